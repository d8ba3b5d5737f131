"""`onesided container`: build the images, and see whether two hold the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from onesided.system.errors import EXIT_FAILURE, InputError

FEW_DIFFERENCES = 20


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand and its own subcommands."""
    parser = subparsers.add_parser("container", help="container images", description=__doc__)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    build = actions.add_parser(
        "build",
        help="build images from containers/ into build/containers/",
        description="Build images from containers/ with the versions of config/environments.yaml, "
        "as onesided-<name>.sif in build/containers/ (ONESIDED_IMAGES). What they share is built "
        "first, unless it is there.",
    )
    build.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a family, an environment, all, abi, openshmem (default: all)",
    )
    build.add_argument(
        "--bootstrap",
        choices=["docker", "debootstrap"],
        default="docker",
        help="where Debian comes from: a registry of images, or a mirror of packages",
    )
    build.add_argument(
        "--mirror", metavar="URL", help="for debootstrap (default: the one of this machine's apt)"
    )
    build.set_defaults(function=run_build)
    compare = actions.add_parser(
        "compare",
        help="see whether two images hold the same files",
        description="Compare two images by name, kind, mode and content of every file; exit 1 "
        "where they differ. When they were built is no part of it.",
    )
    compare.add_argument("first", type=Path, metavar="FIRST")
    compare.add_argument("second", type=Path, metavar="SECOND")
    compare.set_defaults(function=run_compare)


def run_build(options: argparse.Namespace) -> int:
    """Build the images one after another.

    Raises:
        InputError: there is no such image.
        OnesidedError: one was not built.
    """
    from onesided.environments import images

    known = images.known()
    names = options.names or [images.ALL]
    for name in names:
        if name not in known:
            expected = f"one of {', '.join(known)}"
            raise InputError("container build", None, repr(name), expected)
    builder = images.Builder(options.bootstrap, options.mirror)
    for name in names:
        print(f"{name}: building", flush=True)
        seconds = builder.build(known[name])
        size = known[name].file.stat().st_size / 1e6
        print(f"{known[name].file}: {size:.0f} MB, {seconds:.0f} s", flush=True)
    return 0


def run_compare(options: argparse.Namespace) -> int:
    """Print what differs; return 1 if anything does.

    Raises:
        InputError: a file is not there.
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
