"""``onesided new``: the files of a further experiment, which runs at once."""

from __future__ import annotations

import argparse

from onesided.cli import new_experiment
from onesided.system import paths


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "new",
        help="write the files of a new experiment: kernel, check, analysis, page and campaign "
        "(docs/add-an-experiment.md)",
    )
    parser.add_argument("name", help="of the kernel and of all that belongs to it")
    parser.add_argument(
        "--study", default="own", help="the folder of the kernel, by its source (%(default)s)"
    )
    parser.set_defaults(function=_new)


def _new(options: argparse.Namespace) -> int:
    for path in new_experiment.write(options.name, options.study):
        print(path.relative_to(paths.project_root()))
    print(f"make report CAMPAIGN={options.name} runs it")
    return 0
