"""`onesided references RESULTS_DIR`: keep a campaign's verdicts; a check fails when one turns."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "references",
        help="write references/ from the verdicts of a campaign",
        description=__doc__,
    )
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR", help="results/<campaign>")
    parser.add_argument(
        "--replace", action="store_true", help="replace the references that stand already"
    )
    parser.set_defaults(function=run)


def run(options: argparse.Namespace) -> int:
    """Write one file a partition and environment; print their paths."""
    from onesided import references
    from onesided.analyse import read_verdicts

    cells = read_verdicts(options.results / "verdicts.json")
    found = references.documents_of(cells, options.results.resolve().name)
    references.write(found, options.replace)
    for path in found:
        print(path)
    return 0
