"""`onesided report RESULTS_DIR`: pages, tables, figures, and a summary on the terminal.

The campaign's page, index.html, has the answers; each study has a page of its own beside it.
"""

from __future__ import annotations

import argparse
import sys

from onesided.system import paths


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "report", help="write RESULTS_DIR/report/index.html of a campaign", description=__doc__
    )
    parser.add_argument(
        "results",
        type=paths.campaign_results,
        metavar="RESULTS_DIR",
        help="a campaign's folder of results, or its name",
    )
    parser.add_argument("--single-file", action="store_true", help="put everything into index.html")
    parser.set_defaults(function=run)


def run(options: argparse.Namespace) -> int:
    """Make one campaign's report; return 0."""
    from onesided import report
    from onesided.studies import find

    loaded = report.load(options.results, find())
    report.build(loaded, options.single_file)
    sys.stdout.write(report.terminal_summary(loaded))
    return 0
