"""`onesided environments`: provide the declared MPIs, or lock the hashes of a new one."""

from __future__ import annotations

import argparse

from onesided.environments import declarations, provision
from onesided.system import paths
from onesided.system.errors import EXIT_FAILURE, InputError

EPILOG = "`onesided environments lock NAME` adds the hashes of a newly declared version."


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "environments",
        help="install and probe the declared MPIs",
        description=__doc__,
        epilog=EPILOG,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all that are declared")
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="exit 0 also when one is unavailable; its environment.json has the reason",
    )
    parser.add_argument(
        "--provider",
        choices=[provision.SPACK, declarations.CONTAINER],
        help="who delivers in place of the declared provider (ONESIDED_PROVIDER otherwise); "
        "container inside an image of ours only",
    )
    parser.set_defaults(function=run)


def run(options: argparse.Namespace) -> int:
    """Provide, or lock; return 1 when an environment is unavailable and that matters."""
    if options.names[:1] == ["lock"]:
        return lock(options.names[1:])
    found = provision.provide_all(options.names, provider=options.provider)
    missing = [document for document in found if document["status"] != "ready"]
    if not options.names:  # no machine has every MPI of a system
        missing = [document for document in missing if document["provider"] != declarations.SYSTEM]
    return EXIT_FAILURE if missing and not options.keep_going else 0


def lock(names: list[str]) -> int:
    """Add the hashes of declared versions to config/wheels.lock."""
    declared = declarations.declared()
    known = {name: one for name, one in declared.items() if one.provider == declarations.WHEEL}
    if not names or any(name not in known for name in names):
        raise InputError(
            "environments lock", "NAME", " ".join(names) or "none", f"one of {', '.join(known)}"
        )
    for name in names:
        declaration = known[name]
        added = declarations.PROVIDERS[declaration.provider].lock(declaration)
        said = f"added {', '.join(added)}" if added else f"{name} was there"
        print(f"{paths.config_dir() / 'wheels.lock'}: {said}")
    return 0
