"""`onesided compare FIRST SECOND`: which verdicts changed, what is slower or faster than before?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from onesided.cli.command import argument, command
from onesided.system import paths, writing
from onesided.system.errors import InputError


def _same(asked: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in asked:
        old, sign, new = text.partition("=")
        if not (old and sign and new):
            raise InputError("--same", None, text, "OLD=NEW, two names of environments")
        if old in found or new in found.values():
            raise InputError("--same", None, text, "each environment once")
        found[old] = new
    return found


@command(
    "compare",
    "compare two campaigns: versions, weeks or machines",
    argument(
        "first",
        type=paths.campaign_results,
        metavar="FIRST",
        help="a campaign's folder of results, or its name",
    ),
    argument("second", type=paths.campaign_results, metavar="SECOND", help="the same of the other"),
    argument(
        "--same",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="an environment of the first and the one of the second it is compared with; without "
        "it those of one name, or the ones of a family that are left over; may be repeated",
    ),
    argument("--csv", action="store_true", help="print every cell as CSV in place of the summary"),
    argument(
        "--page", type=Path, metavar="FOLDER", help="write a page and its CSVs into this folder"
    ),
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Print the comparison, write its page where one is asked for; return 0."""
    if options.page:
        writing.demand_folder("--page", options.page)
    from onesided.compare import compare, terminal
    from onesided.studies import find

    found = compare.compare(options.first, options.second, find(), _same(options.same))
    if options.csv or options.page:
        from onesided.report import comparison  # loads the drawing library

        if options.page:
            page = comparison.build(found, options.page)
        if options.csv:
            sys.stdout.write(comparison.cells_table(found).csv_text())
            return 0
    for line in terminal.lines(found):
        print(line)
    if options.page:
        print(f"page: {page}")
    return 0
