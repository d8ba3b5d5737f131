"""Commands for a machine: provide MPIs, write Spack files, build images, check site files."""

import argparse
import sys
from pathlib import Path

from onesided.cli.command import argument, command
from onesided.environments import containers, declarations, provision
from onesided.environments.providers import wheel
from onesided.system import paths
from onesided.system.errors import EXIT_BAD_INPUT, EXIT_FAILURE, InputError, record_fault

FEW_DIFFERENCES = 20
MOST = 1e9


@command(
    "environments",
    "install and probe the declared MPIs",
    argument("names", nargs="*", metavar="NAME", help="default: all that are declared"),
    argument(
        "--keep-going",
        action="store_true",
        help="exit 0 also when one is unavailable; its environment.json has the reason",
    ),
    argument(
        "--provider",
        choices=[*provision.choices(), containers.PROVIDER],
        help="who delivers in place of the declared provider (ONESIDED_PROVIDER otherwise); "
        "container inside an image of ours only",
    ),
    description="Provide the declared MPIs, or lock the hashes of a new one.",
    epilog="`onesided environments lock NAME` adds the hashes of a newly declared version.",
)
def environments(options: argparse.Namespace) -> int:
    """Provide MPIs, or lock their hashes; return 1 if a needed environment is unavailable."""
    if options.names[:1] == ["lock"]:
        return lock(options.names[1:])
    found = provision.provide_all(options.names, provider=options.provider)
    missing = [document for document in found if document["status"] != "ready"]
    if not options.names:  # without names, MPIs that only some machines have may be unavailable
        missing = [document for document in missing if provision.has_to_be_there(document)]
    return EXIT_FAILURE if missing and not options.keep_going else 0


def lock(wanted: list[str]) -> int:
    """Add the hashes of the declared wheels to config/wheels.lock."""
    declared = declarations.declared()
    known = {name: one for name, one in declared.items() if one.packages}
    if not wanted or any(name not in known for name in wanted):
        raise InputError(
            "environments lock", "NAME", " ".join(wanted) or "none", f"one of {', '.join(known)}"
        )
    for name in wanted:
        added = wheel.lock(known[name])
        said = f"added {', '.join(added)}" if added else f"{name} was there"
        print(f"{paths.config_dir() / 'wheels.lock'}: {said}")
    return 0


@command(
    "spack machine",
    "find MPIs, compilers and tools; show what would be written, or --write it",
    argument("--name", default="local", help="of the file; spack.yaml includes %(default)s"),
    argument("--write", action="store_true", help="write it after showing it"),
    description="Find provided wheels, Debian's MPIs, modules and build tools, and show what "
    "would be written to spack/machines/ and linked below build/spack/externals/.",
)
def spack_machine(options: argparse.Namespace) -> int:
    """Print which Spack files describe this machine; write the files if the user asks for it."""
    from onesided.environments.spack_machine import plan

    found = plan.make(paths.check_name("spack machine", "--name", options.name))
    for line in plan.describe(found):
        print(line)
    if options.write:
        plan.carry_out(found)
        print("written")
    else:
        print("nothing was written; --write does it")
    return 0


@command(
    "spack check",
    "see whether the MPIs of a machine file are what their specs say",
    argument("file", type=Path, metavar="FILE", help="spack/machines/<name>.yaml"),
    description="Check a machine file against its schema, and each MPI in it against what its "
    "library says of itself.",
)
def spack_check(options: argparse.Namespace) -> int:
    """Check a machine's Spack file, and print the MPIs that were not asked for their version.

    A fault raises `InputError`.
    """
    from onesided.environments import spack_machine as machines

    unasked = machines.check(options.file)
    print(f"{options.file}: every MPI that was asked is what its spec says")
    for spec in unasked:
        print(f"not asked: {spec}")
    return 0


@command(
    "container build",
    "build images from containers/ into build/containers/",
    argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a family, an environment, all, abi, openshmem (default: all)",
    ),
    argument(
        "--bootstrap",
        choices=["docker", "debootstrap"],
        default="docker",
        help="where Debian comes from: a registry of images, or a mirror of packages",
    ),
    argument(
        "--mirror", metavar="URL", help="for debootstrap (default: the one of this machine's apt)"
    ),
    description="Build images from containers/ with the versions of config/environments.yaml, "
    "as onesided-<name>.sif in build/containers/ (ONESIDED_IMAGES). What they share is built "
    "first, unless it is there.",
)
def container_build(options: argparse.Namespace) -> int:
    """Build container images one after another.

    Raises:
        InputError: there is no such image.
        OnesidedError: an image was not built.
    """
    from onesided.environments import images

    known = images.known()
    wanted = options.names or [images.ALL]
    for name in wanted:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            raise InputError("container build", None, repr(name), expected)
    builder = images.Builder(options.bootstrap, options.mirror)
    for name in wanted:
        print(f"{name}: building", flush=True)
        seconds = builder.build(known[name])
        size = known[name].file.stat().st_size / 1e6
        print(f"{known[name].file}: {size:.0f} MB, {seconds:.0f} s", flush=True)
    return 0


@command(
    "container compare",
    "see whether two images hold the same files",
    argument("first", type=Path, metavar="FIRST"),
    argument("second", type=Path, metavar="SECOND"),
    description="Compare two images by name, kind, mode and content of every file; exit 1 "
    "where they differ. When they were built is no part of it.",
)
def container_compare(options: argparse.Namespace) -> int:
    """Print the differences between two container images; return 1 if the images differ.

    Raises:
        InputError: a file does not exist.
        OnesidedError: there is no runtime, or an image cannot be run.
    """
    from onesided.environments import images

    for image in (options.first, options.second):
        if not image.is_file():
            raise InputError(image, None, "no such file", "an image")
    first, second = (images.content(one) for one in (options.first, options.second))
    lines = images.differences(first, second)
    for line in lines[:FEW_DIFFERENCES]:
        print(line)
    if lines:
        print(f"{len(lines)} of {len(first.keys() | second.keys())} paths differ")
        return EXIT_FAILURE
    print(f"{len(first)} paths, all the same")
    return 0


@command(
    "site check",
    "say what is missing before anything is submitted",
    argument("file", type=Path, metavar="FILE", help="reframe_checks/sites/<site>.py"),
    description="Load a site file as ReFrame does; check extras and features against "
    "docs/vocabulary.md, and environments, launchers and schedulers against this machine. "
    "On its own machine run modules, prepare_cmds and env_vars in a job's kind of shell. "
    "Exit code 2 with a line for each fault; notes are no faults.",
)
def site_check(options: argparse.Namespace) -> int:
    """Check a site file: print its partitions and notes, then one line for each fault."""
    from onesided.sites import site_check as checker

    findings = checker.check(options.file)
    for line in findings.partitions:
        print(line)
    for note in findings.notes:
        print(f"note: {note}")
    for fault in findings.faults:
        record_fault(fault)
        print(f"onesided: {fault}", file=sys.stderr)
    return EXIT_BAD_INPUT if findings.faults else 0


@command(
    "wire",
    "run a command on hosts of this machine that are joined by a wire with a delay",
    argument("--hosts", type=int, choices=range(2, 5), default=2, help="how many; %(default)s"),
    argument("--ranks-per-host", type=int, default=1, metavar="N", help="%(default)s"),
    argument("--delay-us", type=float, default=1000.0, metavar="US", help="one way; %(default)s"),
    argument("--jitter-us", type=float, default=0.0, metavar="US", help="at most; %(default)s"),
    argument("--rate-mbit", type=float, metavar="MBIT", help="megabits per second (default: any)"),
    argument("--family", action="append", help="of the MPI that starts ranks (default: any)"),
    argument("command", nargs="+", metavar="COMMAND", help="what to run on host h1, behind --"),
    description="Run a command on the first of several hosts of this machine, without root where "
    "the kernel allows user namespaces. Launchers of MPICH, Open MPI and Intel MPI that the "
    "command starts find the hosts by themselves. Nothing is left when the command has ended.",
)
def wire(options: argparse.Namespace) -> int:
    """Run a command on a simulated host of this machine; return the command's exit status.

    Raises:
        InputError: a number has no meaning.
        OnesidedError: this machine has no such hosts.
    """
    from onesided.system import wire as hosts

    for name, least in (("ranks_per_host", 1), ("delay_us", 0), ("jitter_us", 0)):
        given, option = getattr(options, name), name.replace("_", "-")
        if not least <= given < MOST:
            raise InputError(f"wire: --{option}", None, given, f"a number from {least}")
    made = hosts.Wire(
        1e-6 * options.delay_us,
        1e-6 * options.jitter_us,
        1e6 * options.rate_mbit if options.rate_mbit else None,
    )
    known = list(declarations.families())
    families = options.family or known
    if not set(families) <= set(known):
        raise InputError("wire: --family", None, families[-1], f"one of {', '.join(known)}")
    spanning = declarations.spanning(families)
    return hosts.run(options.hosts, options.ranks_per_host, spanning, made, options.command)
