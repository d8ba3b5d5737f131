"""One-sided operations, measured by the harness, by IMB-RMA and by OSU's: see peers.py.

Common to all: one origin, and one target that waits in a barrier; a window of flavor create; thread
level single; each rank on its own core; repeated operations, each with a flush to the target, in
one passive-target epoch, after untimed operations; means. Different:

- the epoch is of lock_all in ours, and of a shared lock of the target in theirs;
- ours gives each operation of a burst its own payload and place, and verifies all payloads after
  the burst; theirs have one buffer for all operations, and verify nothing;
- elements are integers of eight bytes in ours. IMB-RMA puts bytes, adds floats and swaps integers
  of four bytes; OSU's put and add bytes and swap integers of eight. The time of an
  accumulate depends on the elements, so each of theirs runs again with elements of eight bytes
  (same_elements.c);
- the target of ours and OSU's is another rank than IMB-RMA's.

plain_loop.c has both loops alone, without the harness and without the other programs. If ours takes
as long as its loop over new messages, the messages and the epoch are the cause of a ratio. Ours and
this loop also give the median of all bursts: some bursts of a launch take many times as long as the
others, because a rank had no core for a while, and a mean depends on how many they were.

IMB-RMA comes with the Intel MPI wheel and runs under any MPI with the same binary interface, such
as MPICH. OSU's programs are below the folder ``OSU_HOME``, whose ``{environment}`` stands for the
environment's name. IMB-RMA prints times with only two digits after the point. Its bandwidth of the
same samples has more digits, and the time follows from the bandwidth.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median

from launches import Mpi

from onesided.environments import declarations
from onesided.system import paths
from onesided.system.errors import OnesidedError

Program = Callable[[Mpi], dict[str, float]]
"""Launches a benchmark; returns means in microseconds, by operation and size."""

KERNEL = "progress"
CELLS = "flavor=create;synchronisation=lock_all_flush;target_state=idle"
OSU_VARIABLE = "OSU_HOME"
HERE = Path(__file__).parent
#: Sizes in bytes, with the operations of a launch at each size: together a few tenths of a second.
SMALL = ((8, 64, 512, 4096), 20_000)
LARGE = ((32_768, 262_144, 1_048_576), 500)
#: Operations of a burst. Our kernel shortens a burst that takes longer than 100 us, but not to
#: fewer operations, so its bursts are as long as those of plain_loop.c on any machine.
BURST = 10
#: Samples of our kernel and of the loop that works like it, at each operation and size.
BURSTS = 500
#: Untimed operations at the start, of IMB-RMA's and OSU's programs.
WARM_UP = 1000
#: The largest sum of bytes of a burst's operations, because each operation has its own place.
PLACES_BYTES = 64 << 10
#: Families with a common binary interface: a program built for one runs with the others' libraries.
ONE_INTERFACE = ("mpich", "impi")
#: Our operations, and their names in the other programs.
IMB = {
    "put": "Unidir_put",
    "get": "Unidir_get",
    "accumulate": "Accumulate",
    "fetch_and_op": "Fetch_and_op",
    "compare_and_swap": "Compare_and_swap",
}
OSU = {
    "put": "osu_put_latency",
    "get": "osu_get_latency",
    "accumulate": "osu_acc_latency",
    "fetch_and_op": "osu_fop_latency",
    "compare_and_swap": "osu_cas_latency",
}
#: Operations that use one element, whatever the requested size.
OF_ONE_ELEMENT = ("fetch_and_op", "compare_and_swap")
SAME_ELEMENTS = "with elements of eight bytes"
#: The loops of plain_loop.c, by the names in its results. The last of all programs runs right
#: before ours, when the machine is most alike: this is the loop that shows a cause.
PLAIN_OURS, PLAIN_THEIRS = "a plain loop over new messages", "a plain loop over one message"
PLAIN = {PLAIN_THEIRS: "theirs", PLAIN_OURS: "ours"}


def name_of(operation: str, size: int) -> str:
    """Return the name of a comparison."""
    return f"{operation} {size}"


def median_of(comparison: str) -> str:
    """Return the name of the comparison of medians beside that of means."""
    return f"{comparison}, median of bursts"


def asked(operations: Iterable[str]) -> Iterator[tuple[list[str], Sequence[int], int]]:
    """Return the launches: their operations, their sizes, and their numbers of operations."""
    every = list(operations)
    yield every, *SMALL
    large = [operation for operation in every if operation not in OF_ONE_ELEMENT]
    if large:
        yield large, *LARGE


def our_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean time of an operation and its flush in microseconds, by operation and size.

    The median of the bursts is there, too, under its own name.

    One launch has all of them, as that of the plain loop: what is measured first in a launch takes
    longer under some libraries.
    """
    blocks = []
    for operations, sizes, _ in asked(IMB):
        of_many = [one for one in operations if one not in OF_ONE_ELEMENT]
        of_one = [one for one in operations if one in OF_ONE_ELEMENT]
        blocks += [
            f"{CELLS};operation={','.join(some)};size_bytes={','.join(map(str, of_sizes))}"
            for some, of_sizes in ((of_many, sizes), (of_one, sizes[:1]))
            if some
        ]
    options = {
        "latency-burst": BURST,
        "latency-samples": BURSTS,
        "latency-budget-s": 60,
        "latency-patience-s": 0,
        "latency-passes": 0,
    }
    found = {}
    for line in mpi.results(KERNEL, options, blocks):
        labels = line["labels"]
        (series,) = (one for one in line["series"] if one["metric"] == "latency")
        name = name_of(labels["operation"], labels["size_bytes"])
        found[name] = 1e6 * fmean(series["samples"])
        found[median_of(name)] = 1e6 * median(series["samples"])
    return found


def parse_imb(text: str) -> dict[str, float]:
    """Return the mean time of an operation in microseconds, by operation and size."""
    operations = {name: operation for operation, name in IMB.items()}
    means: dict[str, float] = {}
    operation = None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            operation = operations[words[2]]
        elif operation and len(words) == 4 and words[0].isdigit() and int(words[0]):
            size, time_us, megabytes_per_second = int(words[0]), *map(float, words[2:])
            exact = megabytes_per_second > 1  # three digits or more
            called = name_of(operation, SMALL[0][0] if operation in OF_ONE_ELEMENT else size)
            means[called] = size / megabytes_per_second if exact else time_us
    return means


def imb_means_us(mpi: Mpi, place: Path, operations: Sequence[str], **more: str) -> dict:
    """Return IMB-RMA's times, by operation and size.

    Args:
        mpi: the MPI for the launch.
        place: the program.
        operations: our operations.
        more: further variables.
    """
    found: dict[str, float] = {}
    for some, sizes, count in asked(operations):
        with tempfile.TemporaryDirectory() as folder:
            lengths = Path(folder) / "lengths"
            lengths.write_text("".join(f"{size}\n" for size in sizes), "ascii")
            options = ["-thread_level", "single", "-aggregate_mode", "non_aggregate"]
            options += ["-iter", f"{count},{WARM_UP},{count}", "-iter_policy", "off"]
            options += ["-msglen", lengths, *(IMB[name] for name in some)]
            found |= parse_imb(mpi.run(place, options, **more))
    return found


def parse_osu(text: str, operation: str, sizes: Sequence[int]) -> dict[str, float]:
    """Return the mean time of an operation in microseconds, by operation and size."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    times = {int(words[0]): float(words[1]) for words in lines if len(words) == 2}
    return {name_of(operation, size): times[size] for size in sizes if size in times}


def osu_means_us(mpi: Mpi, place: Path, operations: Sequence[str], **more: str) -> dict:
    """Return the times of OSU's programs in a folder: a launch for each operation."""
    found: dict[str, float] = {}
    for some, sizes, count in asked(operations):
        for operation in some:
            options = ["-w", "create", "-s", "flush", "-i", count, "-x", WARM_UP]
            if operation not in OF_ONE_ELEMENT:
                # from one byte on: MPICH takes longer in the first three windows of a launch
                options += ["-m", f"1:{sizes[-1]}"]
            said = mpi.run(place / OSU[operation], options, **more)
            found |= parse_osu(said, operation, sizes)
    return found


def find_imb(mpi: Mpi) -> Path | None:
    """Return IMB-RMA, if it exists and runs under this MPI."""
    if mpi.document["family"] not in ONE_INTERFACE:
        return None
    for name, one in declarations.declared().items():
        found = paths.environments_dir() / name / "prefix" / "bin" / "IMB-RMA"
        if one.family == "impi" and found.is_file():
            mpi.check(found)
            return found
    return None


def find_osu(mpi: Mpi) -> Path | None:
    """Return the folder of OSU's programs, if `OSU_VARIABLE` names one.

    Raises:
        OnesidedError: the programs are missing, or are built with another MPI.
    """
    home = os.environ.get(OSU_VARIABLE)
    if not home:
        return None
    folder = Path(home.replace("{environment}", mpi.document["name"]))
    for found in sorted(folder.rglob(OSU["put"])):
        mpi.check(found)
        return found.parent
    raise OnesidedError(f"{OSU_VARIABLE}: found no {OSU['put']} below {folder}")


def built(mpi: Mpi, source: str, *options: str) -> Path:
    """Build a file of this folder with an MPI's compiler; return the result.

    Raises:
        OnesidedError: the file does not build.
    """
    folder = paths.build_dir() / "peers" / mpi.document["name"]
    folder.mkdir(parents=True, exist_ok=True)
    found = folder / Path(source).stem
    run = subprocess.run(
        [mpi.document["compilers"]["c"], "-O2", *options, "-o", found, HERE / source],
        env=mpi.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        raise OnesidedError(f"{source}: {run.stderr[-300:]}")
    return found


def same_elements(mpi: Mpi) -> dict[str, str]:
    """Build the library that makes accumulates alike; return the variable that preloads it."""
    return {"LD_PRELOAD": str(built(mpi, "same_elements.c", "-shared", "-fPIC"))}


def plain_means_us(mpi: Mpi, place: Path, way: str) -> dict[str, float]:
    """Return the means of plain_loop.c, ``ours`` or ``theirs``, by operation and size.

    The medians of the bursts of ``ours`` are there, too, under their own names.
    """
    wanted = []
    for operations, sizes, count in asked(IMB):
        for operation in operations:
            for size in sizes[:1] if operation in OF_ONE_ELEMENT else sizes:
                burst = BURST if BURST * size <= PLACES_BYTES else 1
                bursts = BURSTS if way == PLAIN[PLAIN_OURS] else count // burst
                wanted.append(f"{operation}:{size}:{burst}:{bursts}")
    found = {}
    for line in mpi.run(place, [way, *wanted]).splitlines():
        operation, size, mean, *of_bursts = line.split()
        name = name_of(operation, int(size))
        found[name] = float(mean)
        found |= {median_of(name): float(one) for one in of_bursts}
    return found


def programs(mpi: Mpi) -> dict[str, Program]:
    """Return the available programs for an MPI, by name.

    Raises:
        OnesidedError: a named program is missing, or is another MPI's.
    """
    found: dict[str, Program] = {}
    places = {"IMB-RMA": (imb_means_us, find_imb(mpi)), "OSU": (osu_means_us, find_osu(mpi))}
    places = {name: one for name, one in places.items() if one[1] is not None}
    if not places:
        return found
    preloaded, loops = same_elements(mpi), built(mpi, "plain_loop.c")
    for name, (means, place) in places.items():
        found[name] = partial(means, place=place, operations=list(IMB))
        alike = partial(means, place=place, operations=["accumulate"], **preloaded)
        found[f"{name}, {SAME_ELEMENTS}"] = alike
    for name, way in PLAIN.items():
        found[name] = partial(plain_means_us, place=loops, way=way)
    return found
