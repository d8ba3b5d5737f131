"""Ask a program; wait for one we started, and hand a stop on to it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from onesided.system.command import one_line
from onesided.system.errors import OnesidedError


class ProgramError(OnesidedError):
    """A program was not started, did not end or failed; one line, without the program's name."""


def ask(
    words: Sequence[str | Path],
    *,
    timeout_s: float,
    folder: str | Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end; return what it wrote to standard output.

    Args:
        words: the program and its arguments.
        timeout_s: after this it is ended.
        folder: working folder.
        variables: its whole environment; ours by default.

    Raises:
        ProgramError: it was not started, did not end in time, or its exit status is not 0.
    """
    try:
        outcome = subprocess.run(
            [str(word) for word in words],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except OSError as fault:
        raise ProgramError(f"cannot be started: {fault.strerror}") from fault
    except subprocess.TimeoutExpired as fault:
        raise ProgramError(f"did not end within {timeout_s:.0f} s") from fault
    if outcome.returncode != 0:
        said = one_line(outcome.stderr or outcome.stdout) or "it said nothing"
        raise ProgramError(f"exit {outcome.returncode}: {said}")
    return outcome.stdout


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
