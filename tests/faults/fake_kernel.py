#!PYTHON -SE
"""A kernel that measures nothing: a rank that maps a segment and writes prepared lines.

The fake checkout replaces the two words in capitals by the Python and by the file with the lines.
"""

import itertools
import json
import mmap
import os
import sys
import time
from pathlib import Path

MADE = "LINES"
CELL_S = float(os.environ.get("FAKE_CELL_S", "0.05"))
START_S = 10
RANK = int(os.environ.get("FAKE_RANK", "0"))
RANKS = int(os.environ.get("FAKE_RANKS", "1"))
SEGMENT = Path("/dev/shm", os.environ.get("FAKE_SEGMENT", "mpich_shm_fake"))


def values(option):
    return [word for before, word in itertools.pairwise(sys.argv) if before == f"--{option}"]


def asked_cells():
    """Yield the ids of the cells in the options: the product of each block's axes."""
    for block in values("cells"):
        axes = [axis.partition("=")[::2] for axis in block.split(";")]
        for point in itertools.product(*(named.split(",") for _, named in axes)):
            yield ",".join(f"{axis}={value}" for (axis, _), value in zip(axes, point, strict=True))


def whole_lines(path):
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def write(stream, line):
    stream.write(json.dumps(line, separators=(",", ":")) + "\n")
    stream.flush()


def run(path):
    """Write the lines of all cells that no earlier launch began."""
    made = json.loads(Path(MADE).read_text())
    cells = list(dict.fromkeys(asked_cells()))
    begun = {line["cell"] for line in whole_lines(path) if line["type"] == "started"}
    labels = dict(word.split("=", 1) for word in values("label"))
    levels = {"required": values("thread-level")[0], "provided": values("thread-level")[0]}
    with path.open("a") as stream:
        write(stream, {**made["header"], "cells": cells, "labels": labels, "thread_level": levels})
        for index, cell in enumerate(cells):
            if cell not in begun:
                write(stream, {"type": "started", "cell": cell, "index": index})
                time.sleep(CELL_S)
                write(stream, {**made["results"][cell], "index": index})
        write(stream, {"type": "finished"})


descriptor = os.open(SEGMENT, os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(descriptor, 4096)
window = mmap.mmap(descriptor, 4096)
if RANK == 0:
    # a rank that comes after the segment is gone would make a new one and wait for nobody
    deadline = time.monotonic() + START_S
    while sum(window[1:RANKS]) < RANKS - 1:
        if time.monotonic() > deadline:
            SEGMENT.unlink()
            sys.exit("a rank did not start")
        time.sleep(0.01)
    if values("cells"):
        run(Path(values("output")[0]))
    window[0] = 1
    SEGMENT.unlink()
window[RANK] = 1
while window[0] == 0:
    time.sleep(0.01)
