"""One changed input: the result of the project's reader, and whether this result is right."""

from __future__ import annotations

import math
import time
import traceback
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import mutations
from corpus import Kind

from onesided.campaign.outcomes import Outcome
from onesided.campaign.records import FAILURES, Launch
from onesided.system.errors import OnesidedError

ONE_LINE, RIGHT, WRONG = "one clear line", "right result", "wrong"
#: Processor time, whatever other programs do.
LONGEST_S = 5.0
MOST_CHARACTERS = 2000
STATUSES = ("ok", "unsupported", "helper_returned", *FAILURES)


@dataclass(frozen=True)
class Trial:
    """The outcome for a changed input.

    Attributes:
        change: the kind of change.
        verdict: one clear line, right result, or wrong.
        said: the line, or the fault.
    """

    change: str
    verdict: str
    said: str


def run(kind: Kind, seed: int, folder: Path) -> Trial:
    """Change an input by the seed, let the reader read it, and judge."""
    source = Random(f"{kind.name} {seed}")
    files = kind.files(source, folder)
    names = list(files)
    changed = names[0] if source.random() < 0.6 else source.choice(names)
    bait = folder / "made-by-a-name"
    turn = seed + zlib.crc32(kind.name.encode())  # a few seeds try different changes for each kind
    for name, documents in files.items():
        right = b"".join(mutations.written(one.value, one.write) for one in documents)
        if name == changed:
            change, right = mutations.change(source, right, documents, str(bait), turn)
        (folder / name).write_bytes(right)
    before = sorted(folder.iterdir())
    begin = time.process_time()
    try:
        found = kind.read(folder)
    except OnesidedError as fault:
        verdict, said = ONE_LINE, str(fault)
        doubt = _doubt_of_line(said, names)
    except Exception:
        verdict, said = WRONG, traceback.format_exc(limit=-6)
        doubt = "a traceback"
    else:
        verdict, said = RIGHT, ""
        doubt = next(_doubts(found), None)
    took_s = time.process_time() - begin
    if bait.exists():
        doubt = "a command was run"
    elif took_s > LONGEST_S:
        doubt = f"it took {took_s:.1f} s"
    elif doubt is None and set(folder.iterdir()) - set(before) - {folder / "round-1"}:
        doubt = f"it made {set(folder.iterdir()) - set(before)}"
    if doubt:
        return Trial(change, WRONG, f"{changed}: {doubt}: {said[-3000:]}")
    return Trial(change, verdict, said)


def _doubt_of_line(said: str, names: list[str]) -> str | None:
    """Return why a message is no clear line."""
    if not said.isprintable():
        return "a line with what no terminal shows"
    if len(said) > MOST_CHARACTERS:
        return f"a line of {len(said)} characters"
    if not any(name in said for name in names):
        return "a line that names no file"
    if "; expected " not in said or ": found " not in said:
        return "a line that does not say what was found and expected"
    return None


def _doubts(found: Any) -> Iterator[str]:
    """Yield the faults in a reader's result."""
    if isinstance(found, tuple) and isinstance(found[0], Launch):
        yield from _doubts_of_launch(*found)
        return
    for value in _values(found):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{value} for a number"
        if isinstance(value, int) and abs(value) >= 2**64:
            yield "a number beyond 64 bits"
        if isinstance(value, str) and "\0" in value:
            yield "NUL in a text"
        if not isinstance(value, dict | list | str | int | float | None):
            yield f"a {type(value).__name__}"


def _doubts_of_launch(launch: Launch, found: dict[str, Outcome]) -> Iterator[str]:
    for result in launch.results.values():
        for series in result["series"]:
            yield from _doubts(series["samples"])
            if not all(isinstance(series[name], int) for name in ("rank", "burst", "dropped")):
                yield "a rank that is no whole number"
    for cell, outcome in found.items():
        if outcome.status not in STATUSES:
            yield f"{cell} is {outcome.status}"
    if found["c=2"].status == "ok" or found["c=3"].status == "ok":
        yield "a cell that is ok and was not"


def _values(found: Any) -> Iterator[Any]:
    left = [found]
    while left:
        value = left.pop()
        yield value
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            left += value
