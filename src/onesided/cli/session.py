"""``onesided session``: one ReFrame run for a partition, environment and round."""

from __future__ import annotations

import argparse

from onesided.campaign import campaign, declared, further
from onesided.campaign.session import Session
from onesided.campaign.slot import Slot
from onesided.system.errors import InputError


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "session", help="run one session of a campaign, or adopt it if it is finished"
    )
    parser.add_argument("campaign", help="a name in config/campaigns, or a file")
    parser.add_argument("partition", help="system:partition")
    parser.add_argument("environment", help="a name in config/environments.yaml")
    parser.add_argument("round", type=int, help="number of the round, from 1")
    parser.set_defaults(function=_session)


def _session(options: argparse.Namespace) -> int:
    loaded = campaign.load(options.campaign)
    for name, found, known in (
        ("PARTITION", options.partition, loaded.partitions),
        ("ENVIRONMENT", options.environment, loaded.environments),
    ):
        if found not in known:
            raise InputError("session", name, repr(found), f"one of {', '.join(known)}")
    if options.round < 1:
        raise InputError("session", "ROUND", options.round, "1 or more")
    loaded.keep_environment()
    slot = Slot(loaded, options.partition, options.environment, options.round)
    tests = further.tests_in(loaded, slot.round, declared.tests_of(loaded))
    was_run = Session(slot, tests).run()
    print(f"{slot.pointer}: {'run' if was_run else 'adopted'}")
    return 0
