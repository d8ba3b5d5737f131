"""Commands for a whole campaign, and for its stages, which Snakemake calls one by one.

A command imports polars or the drawing library only when it runs. These late imports save time,
because a campaign starts the command `session` many times.
"""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from onesided.campaign import campaign
from onesided.cli.command import CAMPAIGN, KEEP_ENVIRONMENT, RESULTS, argument, command
from onesided.system import surroundings
from onesided.system.errors import InputError

OF_REPORTS = """Make a campaign, its verdicts and its pages from reports of ReFrame.

Each report is a round. Collect a report before the next run of ReFrame, which replaces the files of
this run. A report that was collected before is not added again.
"""


def _say(line: str) -> None:
    print(line, flush=True)


def _list() -> NoReturn:
    """Print a list of the campaigns, because the user named none.

    No campaign runs by default: some take hours.
    """
    for line in campaign.listed():
        _say(line)
    raise InputError("run", "CAMPAIGN", "none", "a name of this list, or a file")


@command(
    "run",
    "run a campaign and make its report",
    argument("campaign", nargs="?", help="a name in config/campaigns, or a file (none: list them)"),
    argument(
        "--profile",
        default="default",
        help="a Snakemake profile: a name in profiles/ (slurm: several sessions at a time, each "
        "with a job at the scheduler), or a folder; %(default)s otherwise",
    ),
    argument(
        "--explain",
        action="store_true",
        help="say which tests would be run, and why, and run none",
    ),
    KEEP_ENVIRONMENT,
)
def run(options: argparse.Namespace) -> int:
    """Run a whole campaign, from validation to report."""
    from onesided.campaign import run as campaigns
    from onesided.studies import demand, find

    if options.campaign is None:
        _list()
    loaded = campaign.load(options.campaign)
    loaded.keep_environment()
    surroundings.say()
    campaigns.run(loaded, _say, demand, options.profile, explain=options.explain)
    if options.explain:
        return 0
    from onesided.measure.cell_verdicts import demand_measurements
    from onesided.report import load, terminal_summary

    sys.stdout.write(terminal_summary(load(loaded.results, find())))
    sys.stdout.flush()
    demand_measurements(loaded.results)
    return 0


@command("declare", "write the campaign's grid, as ReFrame has it", CAMPAIGN)
def declare(options: argparse.Namespace) -> int:
    """Write the file ``declared.json`` with the tests and cells of a campaign."""
    from onesided.campaign import declared

    loaded = campaign.load(options.campaign)
    loaded.keep_environment()
    print(declared.declare(loaded))
    return 0


@command(
    "session",
    "run the sessions of a round, or adopt those that are finished",
    CAMPAIGN,
    argument("partition", help="system:partition"),
    argument("environment", help="names in config/environments.yaml, separated by commas"),
    argument("round", type=int, help="number of the round, from 1"),
)
def session(options: argparse.Namespace) -> int:
    """Run sessions of one partition and round, each for one environment, by one ReFrame."""
    from onesided.campaign import attempts, declared, further
    from onesided.campaign.session import Session
    from onesided.campaign.slot import slots

    loaded = campaign.load(options.campaign)
    names = options.environment.split(",")
    for name, found, known in (
        ("PARTITION", options.partition, loaded.partitions),
        *(("ENVIRONMENT", name, loaded.environments) for name in names),
    ):
        if found not in known:
            raise InputError("session", name, repr(found), f"one of {', '.join(known)}")
    if options.round < 1:
        raise InputError("session", "ROUND", options.round, "1 or more")
    loaded.keep_environment()
    tests = further.tests_in(loaded, options.round, declared.tests_of(loaded))
    sessions = [
        Session(slot, tests)
        for slot in slots(loaded, [options.round])
        if slot.partition == options.partition and slot.environment in names
    ]
    now_run = attempts.run(sessions)
    for session in sessions:
        print(f"{session.slot.pointer}: {'run' if session in now_run else 'adopted'}")
    return 0


@command(
    "further",
    "say which cells a further round of a campaign carries, and why",
    CAMPAIGN,
    argument("round", type=int, help="number of the round"),
)
def further(options: argparse.Namespace) -> int:
    """Decide which cells run again in a further round of a campaign."""
    from onesided.campaign import further as rounds
    from onesided.measure import further_rounds
    from onesided.studies import find

    path = further_rounds.decide(campaign.load(options.campaign), options.round, find())
    print(f"{path}: {rounds.line(rounds.read(path))}")
    return 0


@command("collect", "gather a campaign's sessions into Parquet", CAMPAIGN)
def collect(options: argparse.Namespace) -> int:
    """Gather the results of a campaign's sessions into Parquet files."""
    from onesided.campaign.collect import collect as gather

    loaded = campaign.load(options.campaign)
    gather(loaded)
    print(loaded.results / "cells.parquet")
    return 0


@command("analyse", "write summary.parquet and verdicts.json of a campaign", RESULTS)
def analyse(options: argparse.Namespace) -> int:
    """Compute medians, intervals and verdicts from a campaign's tables."""
    from onesided.measure.analyse import analyse as judge
    from onesided.studies import find

    rows, cells = judge(options.results, find())
    print(f"{options.results}: {cells} cells judged, {rows} values summarised")
    return 0


@command(
    "report",
    "write RESULTS_DIR/report/index.html of a campaign",
    RESULTS,
    argument("--single-file", action="store_true", help="put everything into index.html"),
)
def report(options: argparse.Namespace) -> int:
    """Write a campaign's report (pages, tables and figures), and print a summary.

    The campaign's page, index.html, has the main results. Each study has its own page.
    """
    from onesided import report as pages
    from onesided.studies import find

    loaded = pages.load(options.results, find())
    pages.build(loaded, options.single_file)
    sys.stdout.write(pages.terminal_summary(loaded))
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
