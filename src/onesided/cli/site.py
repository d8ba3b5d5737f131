"""`onesided site check FILE`: what a site file lacks, before anything is submitted."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from onesided.system.errors import EXIT_BAD_INPUT, record_fault


def register(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand and its own."""
    parser = subparsers.add_parser("site", help="a site file of ReFrame", description=__doc__)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    checker = actions.add_parser(
        "check",
        help="say what is missing before anything is submitted",
        description="Load a site file as ReFrame does; check extras and features against "
        "docs/vocabulary.md, and environments, launchers and schedulers against this machine. "
        "On its own machine run modules, prepare_cmds and env_vars in a job's kind of shell. "
        "Exit code 2 with a line for each fault; notes are no faults.",
    )
    checker.add_argument("file", type=Path, metavar="FILE", help="reframe_checks/sites/<site>.py")
    checker.set_defaults(function=check)


def check(options: argparse.Namespace) -> int:
    """Print partitions and notes, then each fault on a line of its own."""
    from onesided.sites import site_check

    findings = site_check.check(options.file)
    for line in findings.partitions:
        print(line)
    for note in findings.notes:
        print(f"note: {note}")
    for fault in findings.faults:
        record_fault(fault)
        print(f"onesided: {fault}", file=sys.stderr)
    return EXIT_BAD_INPUT if findings.faults else 0
