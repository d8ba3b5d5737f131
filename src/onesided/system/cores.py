"""Find the cores that exist and that this process may use; call functions in parallel on them.

A core is what the operating system calls a CPU. `taskset`, schedulers, containers and cpusets set a
process's affinity mask, which lists the cores that the process may use. The quota of a control
group (cgroup) limits the total CPU time of the group's processes. For example, a quota of 1.5
allows the time of one and a half cores.
"""

import gc
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

LAUNCHER_VARIABLE = "ONESIDED_LAUNCHER_CPUS"
"""The environment variable from which a kernel reads the launcher's host and the cores that the
launcher may use (``name:0-3,8``)."""

_LEVEL1_DATA, _LEVEL2, _LEVEL3, _LEVEL4 = 188, 191, 194, 197
"""The C library's numbers for the sizes of caches (glibc, ``bits/confname.h``). Python has no names
for these numbers of the C library."""

UNKNOWN_CACHE_BYTES = 32 << 20
"""The size that is assumed for the largest cache if the C library does not know it."""


@dataclass(frozen=True)
class Groups:
    """The files and folders in which Linux lists the control groups (cgroups) of a process.

    Attributes:
        own: the file that names the groups of this process.
        mounts: the folders in which the trees of the second version of cgroups may be mounted.
        root: the folder with a tree for each controller of the first version of cgroups.
    """

    own: Path = Path("/proc/self/cgroup")
    mounts: tuple[Path, ...] = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
    root: Path = Path("/sys/fs/cgroup")


SYSTEM = Groups()


def existing() -> int:
    """Return how many cores this machine has; 1 if the system does not say."""
    return os.cpu_count() or 1


def allowed() -> list[int]:
    """Return the numbers of the cores in this process's affinity mask, in ascending order."""
    return sorted(os.sched_getaffinity(0))


def usable(groups: Groups = SYSTEM) -> int:
    """Return how many cores this process and its child processes may use; at least 1."""
    limit = quota(groups)
    cores = len(allowed())
    return cores if limit is None else max(1, min(cores, math.floor(limit)))


def quota(groups: Groups = SYSTEM) -> float | None:
    """Return the least CPU quota, in cores, of this process's control groups and their parents.

    The result is None if there is no quota, or if the quota cannot be read.
    """
    found = [limit for folder in _folders(groups) if (limit := _quota_of(folder)) is not None]
    return min(found, default=None)


def largest_cache_bytes() -> int:
    """Return the size of the machine's largest cache, as ``src/kernels/harness/cache.c`` does."""
    return next(filter(None, map(_cache_bytes, (_LEVEL4, _LEVEL3, _LEVEL2))), UNKNOWN_CACHE_BYTES)


def own_cache_bytes() -> int:
    """Return the size of the caches that each core alone uses; the C kernels find the same size."""
    return _cache_bytes(_LEVEL1_DATA) + _cache_bytes(_LEVEL2)


def _cache_bytes(name: int) -> int:
    """Return the size of a cache from the C library; 0 if the library does not know the size."""
    try:
        return max(0, os.sysconf(name))
    except (OSError, ValueError):
        return 0


def launcher_value() -> str:
    """Return the value of `LAUNCHER_VARIABLE` for the launchers that this process starts."""
    return f"{os.uname().nodename}:{','.join(map(str, allowed()))}"


def _folders(groups: Groups) -> Iterator[Path]:
    """Yield the folders of this process's control groups and of their parent groups."""
    for line in _read(groups.own).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            trees = groups.mounts
        elif "cpu" in controllers.split(","):
            trees = (groups.root / controllers, groups.root / "cpu")
        else:
            continue
        group = PurePosixPath("/", path)
        for tree in trees:
            for one in (group, *group.parents):
                yield tree / one.relative_to("/")


def _quota_of(folder: Path) -> float | None:
    """Return the CPU quota of a control group in cores, from its files (cgroups version 2 or 1)."""
    words = _read(folder / "cpu.max").split() or [
        *_read(folder / "cpu.cfs_quota_us").split(),
        *_read(folder / "cpu.cfs_period_us").split(),
    ]
    try:
        time_us, period_us = map(int, words)
    except ValueError:  # "max" is no quota
        return None
    return time_us / period_us if time_us > 0 and period_us > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


Result = TypeVar("Result")

WORTH_A_PROCESS = 40_000
"""For this number of cells or more, work is divided among several processes. A new process needs
about a second to start, and about 50 µs for each cell."""


def each(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], cells: int
) -> Iterator[Result]:
    """Call a function for each tuple of arguments; yield the results in order.

    If there are many cells, several processes make the calls. If a call raises an exception, the
    iteration ends, and no further calls begin. If this process ends for any reason, the processes
    that it started for the calls also end.

    Args:
        function: a function at the top level of a module, because other processes import it.
        tasks: the arguments of each call. Arguments and results are pickled.
        cells: the number of cells in all calls.
    """
    workers = min(usable(), len(tasks))
    if workers < 2 or cells < WORTH_A_PROCESS:
        for task in tasks:
            yield function(*task)
        return
    import multiprocessing  # most commands that ask for cores start no process
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin) as pool:
        yield from pool.map(function, *zip(*tasks, strict=True))


def _begin() -> None:
    """Prepare a worker process: ignore keyboard interrupts, and end if the parent process ends."""
    gc.disable()  # as in the parent process (`onesided.cli`)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing.connection

    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
