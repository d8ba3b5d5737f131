"""``onesided run``: a whole campaign, from validation to report."""

from __future__ import annotations

import argparse
import sys

from onesided import campaign, run


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("run", help="run a campaign and make its report")
    parser.add_argument(
        "campaign", nargs="?", default="quick", help="a name in config/campaigns, or a file"
    )
    parser.set_defaults(function=_run)


def _say(line: str) -> None:
    print(line, flush=True)


def _run(options: argparse.Namespace) -> int:
    from onesided.report import terminal_summary

    loaded = campaign.load(options.campaign)
    run.run(loaded, _say)
    sys.stdout.write(terminal_summary(loaded.results))
    return 0
