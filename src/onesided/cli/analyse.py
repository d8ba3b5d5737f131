"""`onesided analyse RESULTS_DIR`: medians, intervals and verdicts from a campaign's tables."""

from __future__ import annotations

import argparse

from onesided.system import paths


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "analyse", help="write summary.parquet and verdicts.json of a campaign", description=__doc__
    )
    parser.add_argument(
        "results",
        type=paths.campaign_results,
        metavar="RESULTS_DIR",
        help="a campaign's folder of results, or its name",
    )
    parser.set_defaults(function=run)


def run(options: argparse.Namespace) -> int:
    """Analyse one campaign; return 0."""
    # these load polars, which the other stages do without
    from onesided.measure.analyse import analyse
    from onesided.studies import find

    rows, cells = analyse(options.results, find())
    print(f"{options.results}: {cells} cells judged, {rows} values summarised")
    return 0
