"""`onesided report RESULTS_DIR`: page, tables, figures, and a summary on the terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "report", help="write RESULTS_DIR/report/index.html of a campaign", description=__doc__
    )
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR", help="results/<campaign>")
    parser.set_defaults(function=run)


def run(options: argparse.Namespace) -> int:
    """Make one campaign's report; return 0."""
    from onesided import report  # loads the drawing library, which the other stages do without

    report.build(options.results)
    sys.stdout.write(report.terminal_summary(options.results))
    return 0
