"""`onesided advice FILE`: source an advice file, run its claims again, say whether they hold."""

import argparse
from pathlib import Path

from onesided.cli.command import KEEP_ENVIRONMENT, argument, command
from onesided.system import surroundings


@command(
    "advice",
    "run again what a report's advice files claim",
    argument("files", type=Path, nargs="+", metavar="FILE", help="advice/<name>.sh or .txt"),
    KEEP_ENVIRONMENT,
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Print one line for each claim; return 1 if a claim is not true any more.

    Raises:
        InputError: a file claims nothing or names an environment that is not there.
    """
    from onesided.studies.stfc.progress import rerun

    surroundings.say()
    failed = 0
    for path in options.files:
        for result in rerun.rerun(path, print):
            claim = result.claim
            word = "holds" if result.holds else f"does not hold: {result.verdict.word}"
            print(f"{claim.environment} {claim.test} {claim.cell} {claim.verdict}: {word}")
            failed += not result.holds
    return 1 if failed else 0
