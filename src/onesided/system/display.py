"""Show the progress of parallel tasks: a live table on a terminal, else a line for each change.

Functions import Rich, because most processes that load this module show no table.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TextIO

WAITING = "waiting"
REFRESHES_PER_SECOND = 4
SYMBOLS = {True: ("✓", "green"), False: ("✗", "red")}


@dataclass
class Task:
    """A task, shown as one row of a table, with its current state and its times of begin and end.

    Attributes:
        state: a word or two, such as ``installing``.
        detail: the rest of the line; may be empty.
        begun_s: when the first state began, on the monotonic clock; None while the task waits.
        ended_s: when the task ended; None while it runs.
        succeeded: whether the task succeeded; None while it runs.
    """

    name: str
    state: str = WAITING
    detail: str = ""
    begun_s: float | None = None
    ended_s: float | None = None
    succeeded: bool | None = None

    def elapsed_s(self) -> float:
        """Return how many seconds the task has run so far, or ran until its end."""
        if self.begun_s is None:
            return 0.0
        return (self.ended_s or time.monotonic()) - self.begun_s


@dataclass
class Progress:
    """Shows tasks and their states. Any thread may call the methods of this class.

    Use this class as a context manager. A task whose name is not in `names` is added when it gets
    its first state.

    Attributes:
        names: the names of the tasks, in the order in which they are shown.
        stream: the stream to write to; by default standard error, so that output can be piped.
    """

    names: Iterable[str] = ()
    stream: TextIO = field(default_factory=lambda: sys.stderr)

    def __post_init__(self) -> None:
        """Prepare the tasks. Write nothing yet."""
        self._tasks = {name: Task(name) for name in self.names}
        self._note = ""
        self._guard = threading.RLock()
        self._begun_s = time.monotonic()
        self._live = self._make_live() if self.stream.isatty() else None

    def _make_live(self) -> Any:
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self.stream)
        return Live(
            get_renderable=self._table, console=console, refresh_per_second=REFRESHES_PER_SECOND
        )

    def __enter__(self) -> Progress:
        """Start to show the tasks."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the updates of the table; the last state of every task stays on the terminal."""
        if self._live:
            self._live.stop()

    def state(self, name: str, state: str, detail: str = "") -> None:
        """Show what a task does now, if its state or its detail has changed."""
        with self._guard:
            task = self._tasks.setdefault(name, Task(name))
            if (task.state, task.detail) == (state, detail):
                return
            task.begun_s = task.begun_s or time.monotonic()
            task.state, task.detail = state, detail
            self._print_line(task)

    def end(self, name: str, state: str, *, succeeded: bool, detail: str = "") -> None:
        """Show that a task is finished, and whether it succeeded."""
        with self._guard:
            task = self._tasks.setdefault(name, Task(name))
            task.ended_s = time.monotonic()
            task.begun_s = task.begun_s or task.ended_s
            task.state, task.detail, task.succeeded = state, detail, succeeded
            self._print_line(task)

    def note(self, text: str) -> None:
        """Show a line about all tasks together, for example with the remaining time."""
        with self._guard:
            if text == self._note:
                return
            self._note = text
            if not self._live:
                self._print(text)

    def _print_line(self, task: Task) -> None:
        if self._live:
            return
        detail = f": {task.detail}" if task.detail else ""
        took = f" ({task.elapsed_s():.1f} s)" if task.ended_s else ""
        self._print(f"{task.name}: {task.state}{took}{detail}")

    def _print(self, text: str) -> None:
        print(f"[{time.monotonic() - self._begun_s:6.1f} s] {text}", file=self.stream, flush=True)

    def _table(self) -> Any:
        from rich.table import Table

        with self._guard:
            table = Table.grid(padding=(0, 2))
            for task in self._tasks.values():
                table.add_row(*_row(task))
            if self._note:
                table.caption = self._note
                table.caption_justify = "left"
            return table


def _row(task: Task) -> list[Any]:
    from rich.spinner import Spinner
    from rich.text import Text

    if task.succeeded is None:
        mark = Spinner("dots") if task.begun_s else Text("·", "dim")
    else:
        mark = Text(*SYMBOLS[task.succeeded])
    seconds = f"{task.elapsed_s():.1f} s" if task.begun_s else ""
    # cut at the terminal's width, so that a task fills only one line
    detail = Text(task.detail, "dim", no_wrap=True, overflow="ellipsis")
    return [mark, Text(task.name), Text(task.state), Text(seconds), detail]
