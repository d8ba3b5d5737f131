"""Make data/launch_tails.json from campaigns with a deliberate change of machine or library.

    python tests/launch_tails.py NAME=RESULTS_FOLDER... > tests/data/launch_tails.json

These launches test when a tail is called out of all proportion (unit/test_tails.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from onesided.compare.pair import Judged
from onesided.studies import find

DIGITS = 2
WHAT = (
    "of each cell the tail of its latency in each launch (docs/methods.md): quiet, busy (beside a "
    "program that takes one of two cores), and delayed (each twentieth MPI_Win_flush by 5 ms)"
)


def tails_of(folder: Path) -> list[list[str | list[float]]]:
    """Return environment, cell and tails of each cell with a latency in a campaign."""
    found = Judged.read(folder, find().merits).tails
    return [
        [place[2], place[4], [round(value, DIGITS) for value in values]]
        for place, values in sorted(found.items())
    ]


if __name__ == "__main__":
    named = [word.partition("=") for word in sys.argv[1:]]
    document = {"what": WHAT, **{name: tails_of(Path(folder)) for name, _, folder in named}}
    print(json.dumps(document, separators=(",", ":")).replace("],[", "],\n["))
