"""Locks that end with the process that holds them: for campaigns on a machine, and for folders."""

import fcntl
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from onesided.system.errors import OnesidedError, StoppedError
from onesided.system.strays import LOCK_VARIABLE

WAIT_S = 0.2


@dataclass(frozen=True)
class DeadHolder:
    """A holder of the campaign lock that ended, most likely by a kill, before it released the lock.

    Attributes:
        campaign: the folder of the campaign's results.
        started_s: when the holder took the lock, in seconds since the epoch.
    """

    campaign: str
    started_s: float


def lock_file() -> Path:
    """Return the campaign lock's file: ``ONESIDED_LOCK`` if set, else a file for each user."""
    declared = os.environ.get(LOCK_VARIABLE)
    return Path(declared or Path(tempfile.gettempdir()) / f"onesided-{os.getuid()}.lock")


def _read_holder(stream: IO[str]) -> DeadHolder | None:
    stream.seek(0)
    try:
        document = json.loads(stream.read() or "null")
        return DeadHolder(document["campaign"], float(document["started_s"])) if document else None
    except (ValueError, KeyError, TypeError):
        return DeadHolder("unknown", 0.0)


def _held_by(stream: IO[str]) -> str:
    holder = _read_holder(stream)
    name = Path(holder.campaign).name if holder else "another"
    return f"campaign {name} runs on this machine; waiting until it is finished"


@contextmanager
def campaign_lock(campaign: Path, waiting: Callable[[str], None]) -> Iterator[DeadHolder | None]:
    """Hold this machine's campaign lock; yield the previous holder if that process died.

    Child processes do not inherit the lock's file descriptor. Therefore the lock is released when
    this process ends, even if its child processes still run. `campaign` is the folder of results
    that this process will write. If a living campaign holds the lock, `waiting` is called once,
    with one line of text.

    Raises:
        OnesidedError: the lock file cannot be opened.
    """
    path = lock_file()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as fault:
        raise OnesidedError(f"{path}: cannot be opened as a lock: {fault.strerror}") from fault
    with os.fdopen(descriptor, "r+") as stream:
        _wait_for(stream, lambda: waiting(_held_by(stream)))
        dead = _read_holder(stream)
        _write_holder(stream, {"campaign": str(campaign), "started_s": time.time()})
        try:
            yield dead
        finally:  # also after a failure; if the process is killed, the entry stays
            _write_holder(stream, None)


@contextmanager
def folder_lock(
    folder: Path, what_for: str, say: Callable[[str], None], stop: threading.Event
) -> Iterator[IO[str]]:
    """Hold a folder's lock, so that other runs and threads must wait; yield the locked file.

    The folder is made if it does not exist. If another process or thread holds the lock, `say` is
    called with "waiting for" and the words in `what_for`. The event `stop` ends the waiting.

    Raises:
        StoppedError: ``stop`` was set while another held the lock.
        OnesidedError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / "lock").open("a+")
    except OSError as fault:
        raise OnesidedError(f"{folder}: cannot be written: {fault.strerror}") from fault
    with stream:
        _wait_for(stream, lambda: say(f"waiting for {what_for}"), stop)
        yield stream


def _wait_for(
    stream: IO[str], waiting: Callable[[], None], stop: threading.Event | None = None
) -> None:
    """Lock a file; if another process holds the lock, call `waiting` once and wait."""
    told = False
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not told:
                waiting()
                told = True
        if stop is not None and stop.is_set():
            raise StoppedError("interrupted")
        time.sleep(WAIT_S)


def _write_holder(stream: IO[str], holder: dict | None) -> None:
    stream.seek(0)
    stream.truncate()
    if holder:
        stream.write(json.dumps(holder))
    stream.flush()
