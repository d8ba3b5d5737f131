"""``onesided run``: a whole campaign, from validation to report."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from onesided.campaign import campaign, run
from onesided.studies import demand, find
from onesided.system import surroundings
from onesided.system.errors import InputError


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("run", help="run a campaign and make its report")
    parser.add_argument(
        "campaign", nargs="?", help="a name in config/campaigns, or a file (none: list them)"
    )
    parser.add_argument(
        "--profile",
        default=run.DEFAULT_PROFILE,
        help="a Snakemake profile: a name in profiles/ (slurm: several sessions at a time, each "
        "with a job at the scheduler), or a folder; %(default)s otherwise",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say which tests would be run, and why, and run none",
    )
    surroundings.add_option(parser)
    parser.set_defaults(function=_run)


def _say(line: str) -> None:
    print(line, flush=True)


def _list() -> NoReturn:
    """Say which campaigns there are: none is started unasked, for some take hours."""
    from onesided.campaign import listing

    for line in listing.lines():
        _say(line)
    raise InputError("run", "CAMPAIGN", "none", "a name of this list, or a file")


def _run(options: argparse.Namespace) -> int:
    if options.campaign is None:
        _list()
    loaded = campaign.load(options.campaign)
    loaded.keep_environment()
    surroundings.say()
    run.run(loaded, _say, demand, options.profile, explain=options.explain)
    if options.explain:
        return 0
    # what is not needed before: tables and the drawing library
    from onesided.measure.judged import demand_measurements
    from onesided.report import load, terminal_summary

    sys.stdout.write(terminal_summary(load(loaded.results, find())))
    sys.stdout.flush()
    demand_measurements(loaded.results)
    return 0
