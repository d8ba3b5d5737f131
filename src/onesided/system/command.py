"""Run commands with a time limit and a log file, and end them with all their processes."""

import os
import re
import shlex
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from onesided.system import strays
from onesided.system.errors import OnesidedError, StoppedError
from onesided.system.text import line

Say = Callable[[str], None]

#: The variable that marks all processes of a command: ranks leave the launcher's process group.
MARKER = "ONESIDED_COMMAND"
POLL_S = 0.02
REASON_LENGTH = 300
FAULT = re.compile(r"error|abort|fatal|fail|cannot|not found|not enough", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnavailableError(OnesidedError):
    """Raised if an MPI environment is not available on this machine. The message is the reason."""


def exports(variables: Mapping[str, str]) -> list[str]:
    """Return shell lines that set environment variables to exactly the given values.

    The shell never executes a value. ReFrame's own ``env_vars`` cannot be used: ReFrame writes
    their values without quotes, and executes text in ``$(...)``.

    Raises:
        ValueError: a name is not the name of a variable.
    """
    for name in variables:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"{name!r} is no name of a variable")
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def path_first(folder: Path) -> str:
    """Return a shell line that puts a folder first on ``PATH``."""
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"'


def one_line(text: str) -> str:
    """Return a text as one line, which is cut after REASON_LENGTH characters."""
    return line(" ".join(text.split())[:REASON_LENGTH])


@dataclass(frozen=True)
class Outcome:
    """How a command ended.

    Attributes:
        status: the exit status; negative if a signal ended the command; None if the command was
            ended at the time limit.
        output: what the command wrote to standard output and standard error.
    """

    status: int | None
    output: str

    def main_line(self, stacked: re.Pattern[str] | None = None) -> str:
        """Return the line of a command's output that most likely says why the command failed.

        If the output has an error stack, the last line of the stack is returned. Without a stack,
        the first line with a word such as "error" is returned; without such a line, the first line
        with text. `stacked` finds the text in each line of an error stack.
        """
        stack = stacked.findall(self.output) if stacked else []
        if stack:
            return one_line(stack[-1])
        lines = [one for one in self.output.splitlines() if any(c.isalnum() for c in one)]
        faults = [one for one in lines if FAULT.search(one)]
        return one_line((faults or lines or ["it wrote nothing"])[0])


@dataclass(frozen=True)
class Command:
    """Runs commands until they end, or until the owner of this object stops them.

    Attributes:
        stop: an event that the owner sets to end all commands immediately.
        guard: a locked file, which commands can hold open (`holds_guard`).
    """

    stop: threading.Event = field(default_factory=threading.Event)
    guard: IO[str] | None = None

    def run(
        self,
        words: Sequence[str | Path],
        *,
        log: Path,
        timeout_s: float,
        variables: Mapping[str, str] | None = None,
        whole_environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        holds_guard: bool = False,
    ) -> Outcome:
        """Run a command until it ends; return its exit status and output.

        The output goes to the file `log`. `variables` are added to the environment, and
        `whole_environment` replaces the environment of this process. If `holds_guard` is true, the
        command keeps the lock of `guard` until it ends, even if this process is killed. The command
        must keep the lock if the command writes where only the holder of the lock may write.

        Raises:
            UnavailableError: there is no such program.
            StoppedError: ``stop`` was set.
        """
        token = uuid.uuid4().hex
        with log.open("w+", encoding="utf-8", errors="replace") as output:
            try:
                process = subprocess.Popen(
                    [str(word) for word in words],
                    stdin=self.guard if holds_guard else subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**(whole_environment or os.environ), **(variables or {}), MARKER: token},
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as fault:
                program = Path(words[0]).name
                raise UnavailableError(f"{program} cannot be started: {fault.strerror}") from fault
            status = self._wait(process, timeout_s)
            if status != 0:
                strays.end_processes(MARKER, token)
        if self.stop.is_set():
            raise StoppedError("interrupted")
        return Outcome(status, log.read_text("utf-8", errors="replace"))

    def _wait(self, process: subprocess.Popen, timeout_s: float) -> int | None:
        deadline = time.monotonic() + timeout_s
        while process.poll() is None:
            if self.stop.is_set() or time.monotonic() > deadline:
                _end_group(process)
                return None
            time.sleep(POLL_S)
        return process.returncode


def _end_group(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()
