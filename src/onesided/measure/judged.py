"""Read verdicts.json, of which a campaign of a million cells has a gigabyte."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import intern
from typing import Any, TextIO, TypeVar

from onesided.campaign.parquet import count_rows
from onesided.campaign.tables import SAMPLE_COLUMNS
from onesided.system import documents, text, values
from onesided.system.command import one_line
from onesided.system.errors import InputError, OnesidedError

SCHEMA = "verdicts"
VERDICTS_SCHEMA = "onesided/verdicts/3"

FIRST_LINES = ("{\n", f' "schema": "{VERDICTS_SCHEMA}",\n', ' "cells": [\n')
LAST_LINES = (" ]\n", "}\n")
AT_A_TIME = 1000
"""Lines between these, an entry each."""

Made = TypeVar("Made")


class _OtherwiseError(Exception):
    """The file is not as `onesided analyse` writes it: wrong, or right and laid out otherwise."""


def read_verdicts(path: Path, make: Callable[[dict[str, Any]], Made] = dict) -> list[Made]:
    """Return the cells of verdicts.json.

    Args:
        path: the file.
        make: what to keep of an entry: there is never more than a thousand of them beside that.

    Raises:
        InputError: it is missing, cut or of another version.
    """
    if not path.is_file():
        raise InputError(path, None, "no such file", "a file from `onesided analyse`")
    try:
        with path.open(encoding="utf-8") as stream:
            return list(map(make, _entries(stream)))
    except (_OtherwiseError, InputError, ValueError, RecursionError, OSError):
        # what reads the whole of it says what is wrong
        return list(map(make, text.plain(documents.read_json(path, SCHEMA)["cells"])))


def _entries(stream: TextIO) -> Iterator[dict[str, Any]]:
    """Yield the entries of a file that is as it is written, what is alike in them as one."""
    labels_of: dict[str, dict[str, str]] = {}
    _expect(FIRST_LINES, stream)
    lines = itertools.takewhile(lambda line: line != LAST_LINES[0], stream)
    ahead = next(lines, None)
    while ahead is not None:
        some = [ahead, *itertools.islice(lines, AT_A_TIME - 1)]
        ahead = next(lines, None)
        for entry in _parsed(some, is_last=ahead is None):
            cell = entry["cell"]
            if labels_of.get(cell) != entry["labels"]:
                labels_of[cell] = _interned(entry["labels"])
            yield {**_interned(entry), "labels": labels_of[cell]}
    _expect(LAST_LINES[1:], stream)


def _interned(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose texts are those of others like it."""
    return {
        name: intern(value) if type(value) is str else value for name, value in document.items()
    }


def _expect(expected: tuple[str, ...], stream: TextIO) -> None:
    if tuple(itertools.islice(stream, len(expected))) != expected:
        raise _OtherwiseError


def _parsed(lines: list[str], is_last: bool) -> list[dict[str, Any]]:
    """Return the entries of some lines.

    Raises:
        ValueError: these are no entries.
        InputError: they do not fit the schema.
    """
    written = "".join(lines).replace("\n", "")
    # text that is printed as it is, as `text.plain` would give it: no escape but of quotes
    if not written.isprintable() or "\\" in written.replace("\\\\", "").replace('\\"', ""):
        raise _OtherwiseError
    if not is_last and not written.endswith(","):
        raise _OtherwiseError
    entries = values.from_json(f"[{written if is_last else written[:-1]}]")
    documents.refuse(values.suspicious_fault(entries, written), "")
    documents.check({"schema": VERDICTS_SCHEMA, "cells": entries}, SCHEMA, "")
    return entries


def demand_measurements(folder: Path) -> None:
    """See whether a campaign has any measurement at all.

    Raises:
        OnesidedError: it has none; the line says what became of its cells.
    """
    if count_rows(folder / "samples.parquet", SAMPLE_COLUMNS):
        return
    cells = read_verdicts(folder / "verdicts.json")
    words = Counter(cell["verdict"] for cell in cells)
    tally = ", ".join(f"{count} {word}" for word, count in words.most_common())
    reason = next((f"; {cell['detail']}" for cell in cells if cell["detail"]), "")
    raise OnesidedError(one_line(f"nothing was measured: {tally}{reason}"))
