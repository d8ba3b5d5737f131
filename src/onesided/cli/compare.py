"""Comparisons of campaigns: `onesided compare`, `reproducibility` and `versions`."""

import argparse
import sys
from pathlib import Path

from onesided.cli.command import argument, command
from onesided.system import paths, writing
from onesided.system.errors import InputError

FIRST = argument(
    "first",
    type=paths.campaign_results,
    metavar="FIRST",
    help="a campaign's folder of results, or its name",
)
SECOND = argument(
    "second", type=paths.campaign_results, metavar="SECOND", help="the same of the other"
)
PAGE = argument(
    "--page", type=Path, metavar="FOLDER", help="write a page and its CSVs into this folder"
)


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
    FIRST,
    SECOND,
    argument(
        "--same",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="an environment of the first and the one of the second it is compared with; without "
        "it those of one name, or the ones of a family that are left over; may be repeated",
    ),
    argument("--csv", action="store_true", help="print every cell as CSV in place of the summary"),
    PAGE,
    description="Which verdicts changed, what is slower or faster than before?",
)
def compare(options: argparse.Namespace) -> int:
    """Print a comparison of two campaigns; write a page if the user asks for it; return 0."""
    if options.page:
        writing.demand_folder("--page", options.page)
    from onesided.compare import campaigns
    from onesided.studies import find

    found = campaigns.compare(options.first, options.second, find(), _same(options.same))
    if options.csv or options.page:
        from onesided.report import comparison  # loads the drawing library

        if options.page:
            page = comparison.build(found, options.page)
        if options.csv:
            sys.stdout.write(comparison.cells_table(found).csv_text())
            return 0
    for line in campaigns.lines(found):
        print(line)
    if options.page:
        print(f"page: {page}")
    return 0


@command(
    "reproducibility",
    "compare two runs of one campaign on one machine: six figures",
    FIRST,
    SECOND,
    description="Do two runs of one campaign say the same?",
)
def reproducibility(options: argparse.Namespace) -> int:
    """Print how well a second campaign repeats the first; return 1 if a bound is missed."""
    from onesided.compare import reproducibility
    from onesided.compare.pair import Judged
    from onesided.studies import find

    merits = find().merits
    sides = (Judged.read(folder, merits) for folder in (options.first, options.second))
    pairs = reproducibility.plain_pairs(*sides)
    for line in reproducibility.lines(pairs):
        print(line)
    return 0 if all(figure.holds for figure in reproducibility.figures(pairs)) else 1


@command(
    "versions",
    "put the answers of several campaigns side by side",
    argument(
        "folders",
        type=paths.campaign_results,
        nargs="+",
        metavar="FOLDER",
        help="the folder of results of each campaign, or the campaign's name",
    ),
    PAGE,
    description="Since which version of an MPI does an access progress?",
)
def versions(options: argparse.Namespace) -> int:
    """Print what changed between versions of MPIs; write a page if asked for; return 0."""
    if options.page:
        writing.demand_folder("--page", options.page)
    # these load the drawing library
    from onesided.report import versions
    from onesided.studies import find

    every, found = versions.read(options.folders, find())
    for line in versions.sentences(found):
        print(line)
    if options.page:
        print(f"page: {versions.build(every, found, options.page)}")
    return 0
