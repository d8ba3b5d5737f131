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
"""From this number of cells on several processes are used: a process starts in a second and takes
some 50 µs for a cell."""


def each(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], cells: int
) -> Iterator[Result]:
    """Yield what a function returns for each tuple of arguments, in their order.

    An exception ends the iteration, and calls that have not begun are not made. A process that was
    started here ends when this process ends, in any way.

    Args:
        function: of a module, for a process imports it.
        tasks: the arguments of each call; what they and the results are made of can be pickled.
        cells: how many cells the calls are for.
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
    """Leave a keyboard interrupt to the parent process, and end with the parent."""
    gc.disable()  # as in that process (`onesided.cli`)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
