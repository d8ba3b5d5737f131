"""`onesided spack`: tell Spack what this machine has, and check what it was told."""

from __future__ import annotations

import argparse
from pathlib import Path

from onesided.system import names


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand and its own subcommands."""
    parser = subparsers.add_parser(
        "spack", help="what Spack is told of this machine", description=__doc__
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _register_machine(actions)
    _register_check(actions)


def _register_machine(actions: argparse._SubParsersAction) -> None:
    parser = actions.add_parser(
        "machine",
        help="find MPIs, compilers and tools; show what would be written, or --write it",
        description="Find provided wheels, Debian's MPIs, modules and build tools, and show what "
        "would be written to spack/machines/ and linked below build/spack/externals/.",
    )
    parser.add_argument(
        "--name", default="local", help="of the file; spack.yaml includes %(default)s"
    )
    parser.add_argument("--write", action="store_true", help="write it after showing it")
    parser.set_defaults(function=machine)


def _register_check(actions: argparse._SubParsersAction) -> None:
    parser = actions.add_parser(
        "check",
        help="see whether the MPIs of a machine file are what their specs say",
        description="Check a machine file against its schema, and each MPI in it against what its "
        "library says of itself.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="spack/machines/<name>.yaml")
    parser.set_defaults(function=check)


def machine(options: argparse.Namespace) -> int:
    """Show what would be written; write it where that is asked for."""
    from onesided.environments.spack_machine import plan

    found = plan.make(names.check("spack machine", "--name", options.name))
    for line in plan.describe(found):
        print(line)
    if options.write:
        plan.carry_out(found)
        print("written")
    else:
        print("nothing was written; --write does it")
    return 0


def check(options: argparse.Namespace) -> int:
    """Check a machine file; a fault in it is an `InputError`."""
    from onesided.environments import spack_machine

    unasked = spack_machine.check(options.file)
    print(f"{options.file}: every MPI that was asked is what its spec says")
    for spec in unasked:
        print(f"not asked: {spec}")
    return 0
