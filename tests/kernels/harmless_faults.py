"""Faults that may do no harm, because the lost or changed data may be unused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .faults_of_mpi import Fault


@dataclass(frozen=True)
class Harmless:
    """Faults that may do no harm, with the reason.

    Attributes:
        kernel: the kernel with the faults.
        calls: the calls with the faults.
        kinds: the kinds of the faults.
        why: why the data may be unused.
        operation: of an accumulate call; None for any.
        cells: a part of the cell's name.
        ranks: the ranks with the faults; None for all.
        position: of the calls with the faults; None for any.
    """

    kernel: str
    calls: tuple[str, ...]
    kinds: tuple[str, ...]
    why: str
    operation: str | None = None
    cells: str = ""
    ranks: tuple[int, ...] | None = None
    position: str | None = None


SENT = ("drop", "corrupt_origin", "corrupt_target")
GOT = ("drop", "wrong_result")
READS = ("MPI_Get", "MPI_Get_accumulate", "MPI_Rget_accumulate")
LOOK = "a look at a word that is looked at again"
#: In these kernels, ranks tell each other by notices that data are there.
WITH_NOTICES = (
    *("adapter_sharing", "alltoall_algorithms", "completion", "halo", "latency_bandwidth"),
    *("some_to_some", "swapped_all_to_all", "threaded_calls", "two_way_exchange", "remote_read"),
    *("distant_messages", "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all"),
)
NOTICE = "the number of a notice (rma/notice.h), which only grows: a greater one says the same"
BYTE = "a byte of the mutex matters to a rank that wants it just then"
HARMLESS = (
    *(
        Harmless(kernel, ("MPI_Fetch_and_op",), GOT, LOOK, "MPI_NO_OP")
        for kernel in (*WITH_NOTICES, "mutex")
    ),
    *(
        Harmless(kernel, ("MPI_Accumulate",), SENT, NOTICE, "MPI_REPLACE")
        for kernel in WITH_NOTICES
    ),
    *(
        Harmless(
            *(kernel, ("MPI_Recv",), ("wrong_result",)),
            "the length of a payload, which is always the same in these requests",
            ranks=(0,),
        )
        for kernel in ("remote_read", "active_accumulate")
    ),
    *(
        Harmless(
            *(kernel, ("MPI_Recv",), GOT, "a release of the server, which carries no data"),
            ranks=(0,),
            position="last",
        )
        for kernel in ("active_accumulate", "gather")
    ),
    Harmless(
        *("mutex", ("MPI_Fetch_and_op", "MPI_Rget_accumulate"), ("wrong_result",)),
        "who unlocks, or joins the queue, does not use what was there",
        "MPI_REPLACE",
    ),
    Harmless(
        *("mutex", ("MPI_Fetch_and_op",), SENT[1:]),
        *("whatever is not 0 grants the mutex", "MPI_REPLACE", "mcs_spin"),
    ),
    Harmless("mutex", ("MPI_Put",), SENT, BYTE),
    Harmless("mutex", ("MPI_Get",), GOT, BYTE),
    Harmless("mutex", ("MPI_Compare_and_swap",), GOT, "one that fails, lost or not, has no effect"),
    Harmless(
        *("linked_list", ("MPI_Allgather",), ("wrong_result",)),
        "pointers that the last rank alone follows",
        ranks=(0,),
    ),
    Harmless(
        *("remote_read", ("MPI_Send",), ("corrupt_target",)),
        "the end of a request's header, which is longer than these requests",
        ranks=(1,),
    ),
    Harmless(
        *("put_ordering", ("MPI_Put", "MPI_Accumulate", "MPI_Send"), SENT[1:]),
        "an end of a put, which the next one overwrites",
    ),
    Harmless(
        *("issue", ("MPI_Send", "MPI_Recv"), (*SENT, *GOT)),
        "when operations arrived, and that they are complete: times, which nothing verifies",
    ),
    Harmless("linked_list", READS, ("drop",), "the end, as the variable says", cells="append"),
    Harmless(
        *("shared_counter", ("MPI_Put",), SENT),
        "overwritten by the same rank before another reads it",
        cells="mpi2_array",
    ),
)


def may_be_harmless(fault: Fault, kernel: str, operation: str, cell: str) -> bool:
    """Return whether a fault of data may do no harm.

    Args:
        fault: the fault.
        kernel: the kernel with the fault.
        operation: of an accumulate call.
        cell: the cell's name.
    """
    return any(
        one.kernel == kernel
        and fault.call in one.calls
        and fault.kind in one.kinds
        and (one.ranks is None or fault.rank in one.ranks)
        and one.operation in (None, operation)
        and one.position in (None, fault.position)
        and one.cells in cell
        for one in HARMLESS
    )
