"""Make a file of data/launch_spreads_*.json from campaigns with no change between them.

    python tests/launch_spreads.py RESULTS_FOLDER... > tests/data/launch_spreads_3.json

This noise tests when `onesided compare` reports a difference (unit/test_compare_noise.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onesided.campaign.tables import place_of
from onesided.compare.pair import Judged, is_timed
from onesided.measure.statistics import median
from onesided.studies import find

DIGITS = 4
WHAT = (
    "logarithms of launches over their median: {folders} campaigns with {rounds} rounds in all, "
    "nothing changed between them; of each cell its environment, its kernel, its launches (null: "
    "none that counts)"
)


def spreads(folders: Sequence[Path]) -> dict[str, Any]:
    """Return the document with the cells that were timed in all campaigns."""
    merits = find().merits
    campaigns = [Judged.read(folder, merits) for folder in folders]
    launches = [campaign.launches for campaign in campaigns]
    judged = [{place_of(cell): cell for cell in campaign.entries} for campaign in campaigns]
    environments = sorted({place[2] for cells in judged for place in cells})
    rounds = [sorted({number for cell in one.values() for number in cell}) for one in launches]
    found = []
    for place in sorted(set.intersection(*map(set, judged)), key=str):
        if not all(is_timed(cells[place], merits) for cells in judged):
            continue
        values = [
            one.get(place, {}).get(number)
            for one, numbers in zip(launches, rounds, strict=True)
            for number in numbers
        ]
        counting = [value for value in values if value is not None]
        if not counting:
            continue
        middle = median(counting)
        logarithms = [None if value is None else round(value - middle, DIGITS) for value in values]
        found.append([environments.index(place[2]), judged[0][place]["kernel"], logarithms])
    what = WHAT.format(folders=len(folders), rounds=sum(map(len, rounds)))
    return {"what": what, "cells": found}


if __name__ == "__main__":
    document = spreads([Path(name) for name in sys.argv[1:]])
    lines = ",\n".join(json.dumps(cell, separators=(",", ":")) for cell in document["cells"])
    print(f'{{"what": {json.dumps(document["what"])}, "cells": [\n{lines}\n]}}')
