"""``onesided further``: decide which cells a further round carries."""

from __future__ import annotations

import argparse

from onesided.campaign import campaign


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "further", help="say which cells a further round of a campaign carries, and why"
    )
    parser.add_argument("campaign", help="a name in config/campaigns, or a file")
    parser.add_argument("round", type=int, help="number of the round")
    parser.set_defaults(function=_further)


def _further(options: argparse.Namespace) -> int:
    from onesided.campaign import further  # loads polars
    from onesided.measure import decide
    from onesided.studies import find

    path = decide.decide(campaign.load(options.campaign), options.round, find())
    print(f"{path}: {further.line(further.read(path))}")
    return 0
