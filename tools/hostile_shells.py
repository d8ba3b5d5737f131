#!/usr/bin/env python3
"""Run a campaign in each shell of tests/faults/hostile_shells.py, and compare with a plain shell.

    python tools/hostile_shells.py quick
    python tools/hostile_shells.py quick --rounds 2 --only "another polars on PYTHONPATH"

Each run has its own results, below --folder, and one round of all cells, unless --rounds asks for
more. A cell is the same if its verdict, its launches' ends and their transport are the same as in
the plain shell. The plain shell has two runs: a difference between them has no cause in a shell,
and is left out. Prints a line for each shell. Exit code 1: a shell changed a cell, or its campaign
neither ran nor named the fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.faults import hostile_shells as hostile  # noqa: E402

from onesided.campaign import campaign as campaigns  # noqa: E402


def write_campaign(name: str, rounds: int, folder: Path) -> Path:
    """Write a campaign with so many rounds and no further rounds; return its file."""
    loaded = campaigns.load(name)
    document = {key: value for key, value in loaded.document.items() if key != "until"}
    path = folder / f"{loaded.name}.yaml"
    path.write_text(yaml.safe_dump(document | {"rounds": rounds}), "utf-8")
    return path


def results_of(shell: hostile.Shell, campaign: Path, folder: Path) -> tuple[object, Path]:
    """Run the campaign in a shell; return the finished process and the results folder."""
    own = folder / re.sub(r"\W+", "_", shell.name)
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    # one lock for all shells
    lock = os.environ.get("ONESIDED_LOCK", str(folder / "lock"))
    variables = {"ONESIDED_RESULTS": str(own), "ONESIDED_LOCK": lock}
    answer = hostile.run(shell, campaign, own / "scratch", variables)
    return answer, own / campaign.stem


def plain_verdicts(campaign: Path, folder: Path) -> dict:
    """Return the verdicts on which two runs in a plain shell agree.

    Raises:
        SystemExit: a run failed.
    """
    found = []
    for name in ("plain", "plain again"):
        answer, results = results_of(hostile.Shell(name), campaign, folder)
        if answer.returncode != 0:
            sys.exit(f"{name}: exit {answer.returncode}: {answer.stdout}{answer.stderr}")
        found.append(hostile.verdicts(results))
    agreed = {key: value for key, value in found[0].items() if found[1].get(key) == value}
    print(f"plain: {len(found[0])} cells, {len(agreed)} the same in two runs", flush=True)
    return agreed


def main() -> int:
    """Print a line for each shell; return 1 if one changes a cell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("campaign", nargs="?", default="quick")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="NAME", help="a shell of the list")
    parser.add_argument("--folder", type=Path, help="for results (default: a temporary one)")
    options = parser.parse_args()
    shells = [one for one in hostile.SHELLS if not options.only or one.name in options.only]
    folder = options.folder or Path(tempfile.mkdtemp(prefix="onesided-shells-"))
    folder.mkdir(parents=True, exist_ok=True)
    campaign = write_campaign(options.campaign, options.rounds, folder)
    plain = plain_verdicts(campaign, folder)
    faults = 0
    for shell in shells:
        begin = time.monotonic()
        answer, results = results_of(shell, campaign, folder)
        fault = hostile.fault(shell, answer, results, plain)
        word = fault or (f"refused: {answer.stderr.strip()}" if shell.refused else "the same")
        print(f"{time.monotonic() - begin:6.1f} s  {shell.name}: {word}", flush=True)
        faults += fault is not None
    print(f"{len(shells)} shells, {faults} at fault; results in {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
