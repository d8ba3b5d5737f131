"""Wait for a program we started, and hand a stop on to it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, KeyboardInterrupt, as long as the block runs."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def wait(process: subprocess.Popen[bytes], stop_s: float) -> int:
    """Return the program's exit status; negative if a signal ended it.

    Args:
        process: the program.
        stop_s: how long it may take to end after it was told to stop.

    Raises:
        KeyboardInterrupt: we were told to stop; the program has ended.
    """
    with termination_interrupts():
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            try:
                process.wait(stop_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
