"""Run programs and return their output; wait for programs, and stop them on a signal."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from onesided.system import paths
from onesided.system.command import one_line
from onesided.system.errors import OnesidedError

ANSWER_S = 60


class ProgramError(OnesidedError):
    """Raised if a program was not started, did not end in time, or failed.

    The error's message does not name the program.
    """


def ask(
    words: Sequence[str | Path],
    *,
    timeout_s: float,
    folder: str | Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run a program to its end; return what it wrote to standard output.

    `variables` is the program's whole environment; by default, this process's environment.

    Raises:
        ProgramError: the program was not started, did not end in time, or its exit status is not 0.
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


def answer(*words: str | Path) -> str | None:
    """Run a program and return its output; None if the program is missing or fails."""
    try:
        return ask(words, timeout_s=ANSWER_S)
    except ProgramError:
        return None


def git(*words: str) -> str | None:
    """Return the output of a git command on the checkout; None if this is not a git checkout."""
    return answer("git", "-C", paths.project_root(), *words)


def commit() -> str | None:
    """Return the checkout's commit, with ``+changes`` if files differ from the commit."""
    head = (git("rev-parse", "HEAD") or "").strip()
    return f"{head}+changes" if head and git("status", "--porcelain") else head or None


#: Signals that tell a command to stop, besides Ctrl-C: from `kill`, and from a closed terminal.
STOPS = (signal.SIGTERM, signal.SIGHUP)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _handled(handler: Any, numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Handle signals with the given handler while the code in this context runs.

    Signals that are ignored (nohup) stay ignored.
    """
    previous = {number: signal.getsignal(number) for number in numbers}
    changed = {one: was for one, was in previous.items() if was is not signal.SIG_IGN}
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, was in changed.items():
            # None: a preloaded library had set this handler, and Python cannot set it again
            signal.signal(number, signal.SIG_DFL if was is None else was)


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """In this context, the signals in `STOPS` raise KeyboardInterrupt, as Ctrl-C does."""
    with _handled(_interrupt, STOPS):
        yield


#: The time between looks at a program. A signal to another thread would not wake this thread.
LOOK_S = 0.1


def wait(
    process: subprocess.Popen[bytes],
    stop: Callable[[], None],
    look: Callable[[], None] | None = None,
) -> int:
    """Wait for a program; return its exit status, which is negative if a signal ended it.

    If this process is told to stop, `stop` is called to end the program. From then on, further
    signals are ignored: a terminal or the parent may signal the whole process group. During
    the wait, `look` is called from time to time.

    Raises:
        KeyboardInterrupt: this process was told to stop; `stop` was called.
    """
    with termination_interrupts():
        try:
            return _status(process, look)
        except KeyboardInterrupt:
            with _handled(signal.SIG_IGN, (signal.SIGINT, *STOPS)):
                stop()
            raise


def _status(process: subprocess.Popen[bytes], look: Callable[[], None] | None) -> int:
    if look is None and threading.active_count() == 1:
        return process.wait()
    while process.poll() is None:
        if look:
            look()
        time.sleep(LOOK_S if look is None else 2.5 * LOOK_S)
    return process.returncode


def end(process: subprocess.Popen[bytes], within_s: float) -> None:
    """Ask a program to end. If the program does not end in time, it is killed."""
    process.terminate()
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
