"""Faults that an MPI may have, the kernels they concern, and the right verdicts.

The library in `faulty_library/` adds a fault. The fault concerns a kernel whose rank makes the call
in the kernel's small launch (faulty_launches.py). The right verdict depends on the fault: it
changes nothing, it must be found in its own cell, it is found sooner or later, or it may do no harm
(harmless_faults.py). In any case, cells that were over before the fault must be untouched.
"""

from __future__ import annotations

import enum
import itertools
import zlib
from dataclasses import dataclass

from .harmless_faults import may_be_harmless

FIRST, MIDDLE, LAST = "first", "middle", "last"
ALL = "all"


class Expected(enum.Enum):
    """The right verdicts for a fault."""

    UNHARMED = "every cell is as without the fault"
    NAMED = "the very cell ends so, with the rank and the call"
    HERE = "the very cell is not ok"
    LATER = "the very cell or a later one is not ok, or the end"
    MAYBE = "cells that were over are untouched; the others end, and wrong data is found"
    TOLD = "the header tells, or the cells are unavailable"


@dataclass(frozen=True)
class Fault:
    """A fault of one kind in one call.

    Attributes:
        position: the first, the middle or the last one of all calls that the kernel makes.
        rank: the rank with the fault, or "all".
    """

    kind: str
    call: str
    position: str = FIRST
    rank: int | str = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.call} {self.position} {self.rank}"


STARTS = ("MPI_Init_thread", "MPI_Finalize")
SYNCHRONISATIONS = (
    *("MPI_Win_fence", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"),
    *("MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_lock_all", "MPI_Win_unlock_all"),
    *("MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_flush_all", "MPI_Win_sync"),
)
WINDOWS = (
    *("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic"),
    *("MPI_Win_attach", "MPI_Win_detach", "MPI_Win_shared_query", "MPI_Win_free"),
)
COMPLETIONS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test")
GROUPS = ("MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_free")
OTHERS = ("MPI_Iprobe", "MPI_Type_commit", "MPI_Type_free", "MPI_Comm_size")
BARRIERS = ("MPI_Barrier", "MPI_Ibarrier")
FILES = ("MPI_File_open", "MPI_File_set_view", "MPI_File_close")

PUTS_AND_GETS = ("MPI_Put", "MPI_Get", "MPI_Rput", "MPI_Rget")
ATOMICS = (
    *("MPI_Accumulate", "MPI_Raccumulate", "MPI_Get_accumulate", "MPI_Rget_accumulate"),
    *("MPI_Fetch_and_op", "MPI_Compare_and_swap"),
)
SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Isend")
RECEIVES = ("MPI_Recv", "MPI_Irecv")
BOTH = ("MPI_Sendrecv", "MPI_Sendrecv_replace")
COLLECTIVES = (
    *("MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather", "MPI_Gatherv", "MPI_Alltoall"),
    *("MPI_Alltoallv", "MPI_Alltoallw", "MPI_Neighbor_alltoallw", "MPI_Reduce_scatter_block"),
)
TRANSFERS_OF_FILES = (
    *("MPI_File_write_at", "MPI_File_write_at_all", "MPI_File_read_at", "MPI_File_read_at_all"),
    *("MPI_File_iwrite_at", "MPI_File_iread_at"),
)
TRANSFERS_OF_ONE_RANK = tuple(name for name in TRANSFERS_OF_FILES if not name.endswith("_all"))
WITHOUT_DATA = (
    *(*STARTS, *SYNCHRONISATIONS, *WINDOWS, *COMPLETIONS, *GROUPS, *OTHERS, *BARRIERS),
    *FILES,
)
WITH_DATA = (
    *(*PUTS_AND_GETS, *ATOMICS, *SENDS, *RECEIVES, *BOTH, *COLLECTIVES, *TRANSFERS_OF_FILES),
)
SENDING = (
    *("MPI_Put", "MPI_Rput", *ATOMICS, *SENDS, "MPI_Sendrecv"),
    *(name for name in COLLECTIVES if not name.endswith(("v", "w"))),
    *("MPI_File_write_at", "MPI_File_write_at_all", "MPI_File_iwrite_at"),
)
GETTING = (
    *("MPI_Get", "MPI_Rget", "MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op"),
    *("MPI_Compare_and_swap", *RECEIVES, *BOTH, *COLLECTIVES),
    *("MPI_File_read_at", "MPI_File_read_at_all", "MPI_File_iread_at"),
)
#: Calls by kind of fault.
CALLS = {
    "hang": (*WITHOUT_DATA, *WITH_DATA),
    "crash": (*WITHOUT_DATA, *WITH_DATA),
    "error": (*WITHOUT_DATA, *WITH_DATA),
    "exit": (*STARTS, "MPI_Barrier", "MPI_Win_free", "MPI_Put", "MPI_Send"),
    "delay": (*WITHOUT_DATA, *WITH_DATA),
    "false_success": (*WITHOUT_DATA, *COLLECTIVES),
    "drop": WITH_DATA,
    "duplicate": WITH_DATA,
    "reorder": ("MPI_Put", "MPI_Get"),
    "corrupt_origin": SENDING,
    "corrupt_target": SENDING,
    "wrong_result": GETTING,
}
#: Kinds whose faults need data: both ranks have such faults, in each position. No call comes after
#: the last one, so its data may be right by chance.
OF_DATA = ("drop", "duplicate", "reorder", "corrupt_origin", "corrupt_target", "wrong_result")
#: Calls whose false success breaks a launch: the other rank waits, or the library refuses later
#: calls.
BREAKS = (
    *("MPI_Barrier", "MPI_Ibarrier", *COLLECTIVES, "MPI_Init_thread"),
    *("MPI_Win_fence", "MPI_Win_post", "MPI_Win_complete", "MPI_Win_wait"),
    *("MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_lock_all", "MPI_Win_unlock_all"),
    *("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic"),
)


def all_faults() -> list[Fault]:
    """Return all faults, one kind after the other.

    With data, the faults are in the first, the middle and the last call of each rank. Without data,
    the two ranks alternate, and so do the first and the middle call.
    """
    found = []
    for kind, calls in CALLS.items():
        for call in dict.fromkeys(calls):
            if kind in OF_DATA:
                places = itertools.product((FIRST, MIDDLE, LAST), (0, 1))
                found += [Fault(kind, call, *one) for one in places]
            else:
                turn = zlib.crc32(f"{kind} {call}".encode()) % 2
                found.append(Fault(kind, call, (FIRST, MIDDLE)[turn], turn))
    for kind in ("lower_level", "false_level"):
        found.append(Fault(kind, "MPI_Init_thread", FIRST, ALL))
    for kind, rank in itertools.product(("one_rank", "more_ranks"), (ALL, 0, 1)):
        found.append(Fault(kind, "MPI_Comm_size", FIRST, rank))
    return found


def expected(
    fault: Fault, kernel: str, operation: str, cell: str = "", swapped: bool | None = None
) -> Expected:
    """Return the right verdicts for a fault.

    Args:
        fault: the fault.
        kernel: the kernel with the fault.
        operation: of an accumulate call, as the library saw it: "MPI_SUM", "none".
        cell: the cell with the fault.
        swapped: whether a compare-and-swap swapped.
    """
    match fault.kind:
        case "hang" | "crash" | "exit" | "error":
            return Expected.NAMED
        case "delay" | "reorder":
            return Expected.UNHARMED
        case "false_success":
            return Expected.LATER if fault.call in BREAKS else Expected.MAYBE
        case "lower_level" | "false_level" | "one_rank" | "more_ranks":
            return Expected.TOLD
    if swapped is False and fault.kind in ("duplicate", "corrupt_origin", "corrupt_target"):
        return Expected.UNHARMED
    if fault.kind == "duplicate":
        return _of_duplicate(fault, operation)
    if may_be_harmless(fault, kernel, operation, cell):
        return Expected.MAYBE
    return Expected.LATER if fault.call in COLLECTIVES and fault.kind == "drop" else Expected.HERE


def _of_duplicate(fault: Fault, operation: str) -> Expected:
    """Return the right verdicts for a repeated call; repeating some calls changes nothing.

    If the last message of a rank is sent twice, nobody receives it the second time, except for the
    rank itself if the message was for this rank.
    """
    call = fault.call
    if call in (*PUTS_AND_GETS, *TRANSFERS_OF_ONE_RANK) or operation == "MPI_NO_OP":
        return Expected.UNHARMED
    if call in ("MPI_Accumulate", "MPI_Raccumulate") and operation == "MPI_REPLACE":
        return Expected.UNHARMED
    is_of_nobody = call in (*SENDS, *BOTH) and fault.position == LAST
    return Expected.MAYBE if operation == "MPI_REPLACE" or is_of_nobody else Expected.LATER
