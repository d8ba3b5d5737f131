"""Commands for sites that run the checks with their own ReFrame: references and reports."""

import argparse
import sys
from pathlib import Path

from onesided.cli.command import RESULTS, argument, command

PROPOSE = "propose"

OF_REFERENCES = """`onesided references [propose] RESULTS_DIR`: keep results for checks to compare.

Without `propose` it keeps the verdicts alone: a check fails when a cell that was independent waits.
With `propose` it also keeps the latencies. Each latency has a bound, or the reason why it has no
bound. A check in regression mode fails above the bound. With the bound is the slow-down that the
bound would miss.
"""

OF_REPORTS = """Make a campaign, its verdicts and its pages from reports of ReFrame.

Each report is a round. Collect a report before the next run of ReFrame, which replaces the files of
this run. A report that was collected before is not added again.
"""


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
def run(options: argparse.Namespace) -> int:
    """Write one reference file per partition and environment; print the files' paths."""
    from onesided.measure.cell_verdicts import read_verdicts
    from onesided.regression import references

    if options.what == PROPOSE:
        from onesided.regression import propose
        from onesided.studies import find

        found = propose.documents_of(options.results, find())
        references.write(found, options.replace)
        for path, document in found.items():
            first, *figures = propose.describe(document)
            print(f"{path}: {first}", *figures, sep="\n")
        return 0
    cells = read_verdicts(options.results / "verdicts.json")
    found = references.documents_of(cells, options.results.resolve().name)
    references.write(found, options.replace)
    for path in found:
        print(path)
    return 0


@command(
    "collect-reframe",
    "make a campaign and its pages from reports of a site's own ReFrame",
    argument("reports", type=Path, nargs="+", metavar="REPORT", help="ReFrame's JSON reports"),
    argument(
        "--into",
        default="site",
        metavar="NAME",
        help="the campaign's name (%(default)s): its results are in results/NAME",
    ),
    description=OF_REPORTS,
)
def collect_reframe(options: argparse.Namespace) -> int:
    """Add ReFrame's reports to a campaign; write tables, verdicts and pages; print a summary."""
    from onesided import report as pages
    from onesided.campaign import site_runs
    from onesided.campaign.collect import collect
    from onesided.measure.analyse import analyse
    from onesided.studies import find

    campaign = site_runs.collect(options.into, options.reports)
    collect(campaign)
    experiments = find()
    analyse(campaign.results, experiments)
    loaded = pages.load(campaign.results, experiments)
    pages.build(loaded)
    sys.stdout.write(pages.terminal_summary(loaded))
    return 0
