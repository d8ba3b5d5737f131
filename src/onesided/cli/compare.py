"""Comparisons of campaigns, and references with which checks compare results."""

import argparse
import sys
from pathlib import Path

from onesided.cli.command import RESULTS, argument, command
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

PROPOSE = "propose"

OF_REFERENCES = """`onesided references [propose] RESULTS_DIR`: keep results for checks to compare.

Without `propose` it keeps the verdicts alone: a check fails when a cell that was independent waits.
With `propose` it also keeps the latencies. Each latency has a bound, or the reason why it has no
bound. A check in regression mode fails above the bound. With the bound is the slow-down that the
bound would miss.
"""


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
    from onesided.report import counts
    from onesided.studies import find

    found = campaigns.compare(options.first, options.second, find(), _same(options.same))
    counted = counts.counted(found) if options.page or not options.csv else []
    if options.csv or options.page:
        from onesided.report import comparison  # loads the drawing library

        if options.page:
            page = comparison.build(found, counted, options.page)
        if options.csv:
            sys.stdout.write(comparison.cells_table(found).csv_text())
            return 0
    for line in (*counts.lines(counted), *campaigns.lines(found)):
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


@command(
    "references",
    "write references/ from a campaign: verdicts, with `propose` latencies and bounds",
    argument(
        "what",
        nargs="?",
        choices=[PROPOSE],
        help="also the latencies, with bounds from the measured spread",
    ),
    RESULTS,
    argument("--replace", action="store_true", help="replace the references that exist already"),
    description=OF_REFERENCES,
)
def references(options: argparse.Namespace) -> int:
    """Write one reference file per partition and environment; print the files' paths."""
    from onesided.measure.cell_verdicts import read_verdicts
    from onesided.regression import references as files

    if options.what == PROPOSE:
        from onesided.regression import propose
        from onesided.studies import find

        found = propose.documents_of(options.results, find())
        files.write(found, options.replace)
        for path, document in found.items():
            first, *figures = propose.describe(document)
            print(f"{path}: {first}", *figures, sep="\n")
        return 0
    cells = read_verdicts(options.results / "verdicts.json")
    found = files.documents_of(cells, options.results.resolve().name)
    files.write(found, options.replace)
    for path in found:
        print(path)
    return 0
