"""One campaign at a time on a machine: a lock that dies with its holder and tells who it was."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from onesided.system.errors import OnesidedError

WAIT_S = 0.5


@dataclass(frozen=True)
class DeadHolder:
    """The holder before us, which never said that it was done: killed, most likely.

    Attributes:
        campaign: its folder of results.
        started_s: when it took the lock, seconds since the epoch.
    """

    campaign: str
    started_s: float


def lock_file() -> Path:
    """Return the lock's path: one a user and machine (``ONESIDED_LOCK`` if set)."""
    declared = os.environ.get("ONESIDED_LOCK")
    return Path(declared or Path(tempfile.gettempdir()) / f"onesided-{os.getuid()}.lock")


def _read_holder(stream: IO[str]) -> DeadHolder | None:
    stream.seek(0)
    try:
        document = json.loads(stream.read() or "null")
        return DeadHolder(document["campaign"], float(document["started_s"])) if document else None
    except (ValueError, KeyError, TypeError):
        return DeadHolder("unknown", 0.0)


@contextmanager
def campaign_lock(campaign: Path, waiting: Callable[[str], None]) -> Iterator[DeadHolder | None]:
    """Hold the machine's lock; yield the holder before us if it died without releasing it.

    The file's descriptor is not inherited, so that the lock ends with this process and not with
    its orphans.

    Args:
        campaign: the folder of results we are going to write.
        waiting: called once with one line when a living campaign holds the lock.

    Raises:
        OnesidedError: the lock file cannot be opened.
    """
    path = lock_file()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as fault:
        raise OnesidedError(f"{path}: cannot be opened as a lock: {fault.strerror}") from fault
    with os.fdopen(descriptor, "r+") as stream:
        _wait_for(stream, waiting)
        dead = _read_holder(stream)
        _write_holder(stream, {"campaign": str(campaign), "started_s": time.time()})
        try:
            yield dead
        finally:  # also after a failure we lived through; a kill leaves the entry standing
            _write_holder(stream, None)


def _wait_for(stream: IO[str], waiting: Callable[[str], None]) -> None:
    told = False
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not told:
                holder = _read_holder(stream)
                name = Path(holder.campaign).name if holder else "another"
                waiting(f"campaign {name} runs on this machine; waiting until it is over")
                told = True
            time.sleep(WAIT_S)


def _write_holder(stream: IO[str], holder: dict | None) -> None:
    stream.seek(0)
    stream.truncate()
    if holder:
        stream.write(json.dumps(holder))
    stream.flush()
