"""Call a function with many arguments, in several processes if that saves time."""

import gc
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from onesided.system import cores

Result = TypeVar("Result")

WORTH_A_PROCESS = 40_000
"""If there are at least this many cells, several processes are used. A process needs about a second
to start, and about 50 µs for a cell."""


def each(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], cells: int
) -> Iterator[Result]:
    """Yield what a function returns for each tuple of arguments, in the order of the tuples.

    An exception ends the iteration, and calls that have not begun are not made. If this process
    ends for any reason, the processes that it started here also end.

    Args:
        function: a function at the top level of a module, because other processes import it.
        tasks: the arguments of each call. It must be possible to pickle the arguments and the
            results.
        cells: the number of cells in all calls.
    """
    workers = min(cores.usable(), len(tasks))
    if workers < 2 or cells < WORTH_A_PROCESS:
        for task in tasks:
            yield function(*task)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin) as pool:
        yield from pool.map(function, *zip(*tasks, strict=True))


def _begin() -> None:
    """Prepare a process: ignore keyboard interrupts, and end if the parent process ends."""
    gc.disable()  # as in the parent process (`onesided.cli`)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
