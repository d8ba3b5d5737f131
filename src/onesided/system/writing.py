"""Write files as a whole: a reader sees either the old or the new file, even after a kill."""

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onesided.system.errors import InputError, OnesidedError

UNFINISHED = re.compile(r"\..+\.[a-z0-9_]{8}")
"""The pattern for the names of files that `whole_file` has not finished: a dot, the final name, and
a random end."""


def write_text(path: Path, text: str) -> None:
    """Write a text file as a whole (see `whole_file`)."""
    write_bytes(path, text.encode("utf-8"))


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a text file from pieces that are never all in memory (see `whole_file`)."""
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        stream.writelines(piece.encode("utf-8") for piece in pieces)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a binary file as a whole (see `whole_file`)."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def demand_folder(option: str, folder: Path) -> None:
    """Check, before any work is done, that a folder can be written to. Change nothing.

    A folder that does not exist is made for the check, and removed again. `option` is the option of
    the command, for the message.

    Raises:
        InputError: the folder cannot be made or written to.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as fault:
        found = f"{folder} ({fault.strerror or fault})"
        raise InputError(option, None, found, "a folder to write to") from fault
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield the path of a new file, which replaces the old file at the end of the context.

    Raises:
        OnesidedError: the folder is read-only or full; the old file still exists.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            yield Path(temporary)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as fault:
        raise OnesidedError(f"{path}: cannot be written: {fault.strerror or fault}") from fault
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


@contextlib.contextmanager
def temporary_folder(inside: Path) -> Iterator[Path]:
    """Yield a temporary folder in `inside` for parts of a file; remove it after the context.

    Raises:
        OnesidedError: no folder can be made there.
    """
    try:
        inside.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(prefix=".parts.", dir=inside)
    except OSError as fault:
        raise OnesidedError(f"{inside}: cannot be written: {fault.strerror}") from fault
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def remove_unfinished(folder: Path) -> int:
    """Remove unfinished files and folders that killed processes left in a folder; return how many.

    The caller must make sure that no process writes to the folder now.
    """
    found = [path for path in folder.rglob(".*") if UNFINISHED.fullmatch(path.name)]
    for path in found:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(found)


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document, indented, with its keys in the given order (see `whole_file`)."""
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def write_json_of_lines(path: Path, document: Any, key: str, lines: Iterable[str]) -> None:
    """Write a JSON document whose last key has a long list: each list entry is on its own line.

    `document` does not have the last key, `key`. Each text in `lines` has one or more entries, as
    `json_lines` returns them.
    """
    head = json.dumps({**document, key: []}, indent=1, ensure_ascii=False).removesuffix("]\n}")
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        stream.write(head)
        separator = "\n"
        for text in lines:
            stream.write(f"{separator}{text}")
            separator = ",\n"
        stream.write("\n ]\n}\n")


def json_lines(entries: Iterable[Any]) -> str:
    """Return some list entries as one text for `write_json_of_lines`."""
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
