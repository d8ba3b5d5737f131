"""Launches for faults of an MPI: a small launch of each kernel, with all its calls."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from onesided.campaign import records

from .launching import Kernel, Run, with_fault

RANKS = 2
#: Options that make every launch short, if the kernel has them.
FEW = {
    "samples": "2",
    "helper-samples": "2",
    "trials": "2",
    "tasks-per-rank": "3",
    "burst": "3",
    "budget-s": "0.01",
    "warm-up": "1",
    "lengths-ms": "0,1",
    "helper-lengths-ms": "1",
    "latency-burst": "3",
    "latency-samples": "2",
    "latency-passes": "1",
    "computing-samples": "1",
    "computing-trials": "1",
    "compute-ms": "1",
}
#: Cells of each kernel, as options; a missing kernel has its default cells.
CELLS = {
    "active_accumulate": ("--thread-level", "multiple"),
    "adapter_sharing": ("--flavor", "allocate", "--size_bytes", "8", "--thread-level", "multiple"),
    "all_to_all": ("--flavor", "allocate", "--size_bytes", "8"),
    "alltoall_algorithms": ("--flavor", "allocate", "--size_bytes", "8"),
    "distant_messages": ("--flavor", "allocate", "--size_bytes", "8"),
    "eager_limit": ("--flavor", "allocate", "--largest-bytes", "1024"),
    "gather": ("--thread-level", "multiple"),
    "halo": ("--flavor", "allocate", "--work", "exchange"),
    "hierarchical_collectives": ("--size_bytes", "8"),
    "in_place_all_to_all": ("--size_bytes", "8"),
    "latency_bandwidth": ("--flavor", "allocate", "--size_bytes", "8"),
    "matrix_vector": ("--order", "96"),
    "mutex": ("--flavor", "allocate"),
    "naive_broadcast": ("--flavor", "allocate", "--size_bytes", "8"),
    "origin_threads": (
        *("--flavor", "allocate", "--origins", "2"),
        *("--arrangement", "one_window,window_each", "--thread-level", "multiple"),
    ),
    "progress": (
        "--cells=operation=put,get,accumulate,get_accumulate,fetch_and_op,compare_and_swap,"
        "failing_compare_and_swap,rput,rget,raccumulate,rget_accumulate;"
        "flavor=allocate;synchronisation=lock_all_flush",
        "--cells=operation=put,get;flavor=create;synchronisation=lock_exclusive,"
        "lock_all_flush_local,fence,pscw",
        "--cells=operation=accumulate;flavor=shared,dynamic;synchronisation=lock_shared",
    ),
    "put_ordering": ("--size_bytes", "32"),
    "remote_read": ("--cache", "warm", "--thread-level", "multiple"),
    "right_shift": ("--flavor", "allocate", "--size_bytes", "8"),
    "shared_counter": (
        *("--algorithm", "mpi2_array,mpi2_tree,fetch_and_op_flush,get_accumulate_flush"),
        *("--flavor", "allocate", "--compute_ms", "1"),
    ),
    "some_to_some": ("--flavor", "allocate", "--sides", "double"),
    "swapped_all_to_all": ("--flavor", "allocate", "--size_bytes", "8"),
    "threaded_calls": ("--thread-level", "multiple"),
    "transpose": ("--flavor", "allocate", "--order", "16"),
    "tree_broadcast": ("--flavor", "allocate", "--size_bytes", "8"),
    "two_way_exchange": ("--flavor", "allocate", "--size_bytes", "8"),
    "window_growth": ("--size_bytes", "1024"),
}
#: A launch takes less than a second, or less than the time-out of a cell that hangs.
LAUNCH_TIMEOUT_S = 30.0
#: Time-outs of a cell: long if nothing may hang, short if something should hang.
PATIENT_S, SHORT_S = 20.0, 1.2


@dataclass(frozen=True)
class Counts:
    """How often a rank made a call: in all, with data, with data to send, with data to get."""

    calls: int
    carrying: int
    sending: int
    getting: int


@dataclass(frozen=True)
class Faulty:
    """A launch with a fault, and what the library said about the fault.

    Attributes:
        run: what the launch left.
        put_in: the library's line about the fault; None if the call was made too few times.
        counts: how often each rank made each call, for ranks that reached MPI_Finalize.
        ended: whether the launch ended by itself.
        swapped: whether the compare-and-swap with the fault swapped; None for other calls.
    """

    run: Run
    put_in: dict | None
    counts: dict[int, dict[str, Counts]]
    ended: bool
    swapped: bool | None = None

    @cached_property
    def begun(self) -> list[str]:
        """The cells that had begun when the fault was put in, in order."""
        lines = self._lines_before()
        return [line["cell"] for line in lines if line["type"] == "started"]

    @cached_property
    def over(self) -> list[str]:
        """The cells that were over when the fault was put in."""
        return [line["cell"] for line in self._lines_before() if line["type"] == "result"]

    @cached_property
    def lines(self) -> list[dict]:
        """The lines of the launch, without lines that a fault has cut."""
        return [line for _, line in records.whole_lines(self.run.output) if line is not None]

    def _lines_before(self) -> list[dict]:
        before = self.put_in["lines_bytes"]
        return [line for end, line in self._ends() if end <= before]

    def _ends(self) -> Iterator[tuple[int, dict]]:
        """Yield each line, and the position in bytes at which it ends in the file."""
        end = 0
        for text in self.run.output.read_bytes().splitlines(keepends=True):
            end += len(text)
            with contextlib.suppress(ValueError):
                yield end, json.loads(text)


def options_of(kernel: Kernel) -> list[str]:
    known = set(re.findall(r"^  --([a-z-]+)", kernel.alone("--help").stdout, re.MULTILINE))
    few = [f"--{name}={value}" for name, value in FEW.items() if name in known]
    few += [f"--disk-dir={kernel.folder}"] if "disk-dir" in known else []
    return [*few, *CELLS.get(kernel.executable.name, ()), f"--ranks={RANKS}"]


def launch(
    kernel: Kernel,
    options: list[str],
    fault: str = "",
    cell_timeout_s: float = PATIENT_S,
    timeout_s: float = LAUNCH_TIMEOUT_S,
) -> Faulty:
    """Launch a kernel with the faulty MPI.

    Args:
        kernel: the kernel.
        options: the kernel's options.
        fault: as in fault.h; an empty text means no fault.
        cell_timeout_s: seconds until the watchdog ends a cell.
        timeout_s: seconds until the launch is ended.
    """
    output = kernel.folder / f"lines-{len(list(kernel.folder.iterdir()))}.jsonl"
    output.touch()
    report = output.with_suffix(".faults")
    variables = {
        **with_fault(kernel.environment, fault),
        "ONESIDED_FAULT_REPORT": str(report),
    }
    run, ended = kernel.launch_within(
        timeout_s,
        *options,
        f"--cell-timeout-s={cell_timeout_s}",
        ranks=RANKS,
        output=output,
        variables=variables,
    )
    lines = (
        [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    )
    counts = {
        line["rank"]: {call: Counts(*numbers) for call, numbers in line["calls"].items()}
        for line in lines
        if line["type"] == "counts"
    }
    put_in = next((line for line in lines if line["type"] == "fault"), None)
    swapped = next((line["swapped"] for line in lines if line["type"] == "swap"), None)
    return Faulty(run, put_in, counts, ended, swapped)
