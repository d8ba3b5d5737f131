"""``onesided collect``: gather a campaign's sessions into Parquet."""

from __future__ import annotations

import argparse

from onesided.campaign import campaign, collect


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("collect", help="gather a campaign's sessions into Parquet")
    parser.add_argument("campaign", help="a name in config/campaigns, or a file")
    parser.set_defaults(function=_collect)


def _collect(options: argparse.Namespace) -> int:
    loaded = campaign.load(options.campaign)
    collect.collect(loaded)
    print(loaded.results / "cells.parquet")
    return 0
