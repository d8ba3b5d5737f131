"""``onesided declare``: write the grid of cells that a campaign declares."""

from __future__ import annotations

import argparse

from onesided.campaign import campaign, declared


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("declare", help="write the campaign's grid, as ReFrame has it")
    parser.add_argument("campaign", help="a name in config/campaigns, or a file")
    parser.set_defaults(function=_declare)


def _declare(options: argparse.Namespace) -> int:
    loaded = campaign.load(options.campaign)
    loaded.keep_environment()
    print(declared.declare(loaded))
    return 0
