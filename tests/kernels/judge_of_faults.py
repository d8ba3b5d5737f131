"""Was the verdict of a launch with a faulty MPI right?"""

from __future__ import annotations

from dataclasses import dataclass

from onesided.campaign.outcomes import Outcome
from onesided.system.documents import check
from onesided.system.errors import InputError

from .faults_of_mpi import BARRIERS, COLLECTIVES, FIRST, LAST, MIDDLE, Expected, Fault, expected
from .faulty_launches import LAUNCH_TIMEOUT_S, PATIENT_S, SHORT_S, Faulty, launch
from .launching import Kernel

#: The words of an outcome about a rank's end, by kind of fault.
WORDS = {"crash": "signal 11 (SIGSEGV)", "exit": "exited by itself", "error": "exited by itself"}
#: The watchdog is set after MPI has started: only the launch's own time-out ends an earlier hang.
START_TIMEOUT_S = 4.0
#: Kinds of faults with which no cell may hang.
LEVELS = ("lower_level", "false_level")
HARMLESS = ("delay", "reorder", *LEVELS)
#: Statuses of a cell that a fault ended, or whose data a fault changed.
FOUND = ("wrong_data", "hang", "crash", "teardown_failure")
GOOD = ("ok", "unsupported")
WAIT_FOR_ALL = (*BARRIERS, *COLLECTIVES, "MPI_Win_fence", "MPI_Win_free", "MPI_Comm_free")
NO_END = "all cells were over, then MPI_Finalize did not return: "


@dataclass(frozen=True)
class Judgement:
    """Whether a verdict was right; None without a fault. `why` says why it was wrong."""

    right: bool | None
    why: str = ""


def count_of(fault: Fault, reference: Faulty) -> int | None:
    """Return the number of the call that gets the fault; None if there is no such call."""
    if fault.kind in LEVELS and reference.lines[0]["thread_level"]["required"] == "single":
        return None
    ranks = reference.counts if fault.rank == "all" else (fault.rank,)
    numbers = []
    for rank in ranks:
        counts = reference.counts.get(rank, {}).get(fault.call)
        numbers.append(_counted(fault.kind, counts) if counts else 0)
    fewest = min(numbers)
    if fewest == 0:
        return None
    return {FIRST: 1, MIDDLE: fewest // 2 + 1, LAST: fewest}[fault.position]


def _counted(kind: str, counts) -> int:
    if kind in ("corrupt_origin", "corrupt_target"):
        return counts.sending
    if kind == "wrong_result":
        return counts.getting
    return counts.carrying if kind in ("drop", "duplicate", "reorder") else counts.calls


def tried(kernel: Kernel, options: list[str], reference: Faulty, fault: Fault):
    """Launch a kernel with a fault, and judge; return None if the kernel makes no such call.

    On a busy machine, the watchdog may ring although nothing hangs, and bursts may be too short for
    the call. Then the launch is repeated, with more patience and for an earlier call.
    """
    number = count_of(fault, reference)
    if number is None:
        return None
    cell_timeout_s = PATIENT_S if fault.kind in HARMLESS else SHORT_S
    within_s = START_TIMEOUT_S if is_before_watchdog(fault) else LAUNCH_TIMEOUT_S
    for one in dict.fromkeys((number, number - number // 8, number // 2 + 1, 1)):
        words = f"{fault.kind} {fault.call} {one} {fault.rank}"
        found = launch(kernel, options, words, cell_timeout_s, within_s)
        judgement = judge(fault, kernel.executable.name, reference, found)
        may_be_busy = ": hang: " in judgement.why and cell_timeout_s < PATIENT_S
        if judgement.right or (judgement.right is False and not may_be_busy):
            break
        cell_timeout_s = PATIENT_S
    return judgement


def is_before_watchdog(fault: Fault) -> bool:
    """Return whether ranks may wait for a rank before the watchdog can ring."""
    if fault.call == "MPI_Init_thread":
        return fault.kind in ("hang", "exit", "false_success")
    starts = ("MPI_Comm_dup", "MPI_Comm_size", "MPI_Allreduce")
    is_first = fault.position == FIRST or fault.call == "MPI_Comm_dup"
    return fault.kind == "hang" and fault.call in starts and is_first


def judge(fault: Fault, kernel: str, reference: Faulty, found: Faulty) -> Judgement:
    if found.put_in is None:
        return Judgement(None, "the call was not made so often")
    if not found.ended and not is_before_watchdog(fault):
        return Judgement(False, "the launch did not end")
    try:
        for line in found.lines:
            check(line, "line", found.run.output)
    except InputError as error:
        return Judgement(False, f"a line does not fit: {error}")
    cells = reference.run.lines[0]["cells"]
    before = {cell: one.status for cell, one in reference.run.outcomes(cells).items()}
    after = found.run.outcomes(cells)
    harmed = [cell for cell in cells if after[cell].status != before[cell]]
    again = _run_again(found, after)
    touched = [cell for cell in harmed if cell in found.over and cell not in again]
    said = (
        f"{harmed[0]}: {after[harmed[0]].status}: {after[harmed[0]].detail}" if harmed else "all ok"
    )
    cell = found.begun[-1] if found.begun else ""
    wanted = expected(fault, kernel, found.put_in["operation"], cell, found.swapped)
    if touched and not _is_of_the_end(touched, after):
        return Judgement(False, f"a cell that was over: {touched[0]}: {after[touched[0]]}")
    match wanted:
        case Expected.UNHARMED:
            right = not harmed and found.run.code == reference.run.code
        case Expected.NAMED:
            right = bool(harmed) and _is_named(fault, found, after[harmed[0]])
        case Expected.HERE:
            places = {*_places(found, cells), *again}
            right = bool(harmed) and harmed[0] in places and after[harmed[0]].status in FOUND
        case Expected.LATER:
            right = bool(harmed)
        case Expected.MAYBE:
            right = True
        case Expected.TOLD:
            right = _is_told(fault, found, after)
    return Judgement(right, f"{wanted.name}: {said}")


def _places(found: Faulty, cells: list[str]) -> list[str]:
    """Return the cells that may have the fault: a rank may be ahead of the lines of rank 0."""
    if not found.begun:
        return cells[:1]
    last = cells.index(found.begun[-1])
    return cells[last : last + 2]


def _run_again(found: Faulty, after) -> set[str]:
    """Return the cells that were run again, later in the launch, and failed there."""
    again = {
        line["cell"] for line in found.lines if line["type"] == "further" and line["status"] != "ok"
    }
    return again | {cell for cell, one in after.items() if "run again" in (one.detail or "")}


def _is_of_the_end(touched: list[str], after: dict[str, Outcome]) -> bool:
    """Return whether only the end of the launch is lost, after all its cells."""
    return {after[cell].status for cell in touched} == {"teardown_failure"}


def _is_named(fault: Fault, found: Faulty, outcome) -> bool:
    """Return whether an outcome says which rank ended, in which call, and how."""
    where = outcome.detail or ""
    if is_before_watchdog(fault) and not found.ended:
        named = fault.kind == "hang" or WORDS[fault.kind] in where
        return outcome.status == "not_run" and "was ended after" in where and named
    if fault.kind == "hang":
        return outcome.status in ("hang", "teardown_failure") and _is_behind(fault, where)
    status = "teardown_failure" if "MPI_Finalize did not return" in where else "crash"
    return (
        outcome.status in (status, "unavailable")
        and f"rank {fault.rank} in " in where
        and f", {fault.call}: {WORDS[fault.kind]}" in where
    )


def _is_behind(fault: Fault, where: str) -> bool:
    """Return whether the words about a hang name the rank and call, with no waiting rank before.

    Among ranks in the same collective call, or in no call, nobody knows which rank is behind.
    """
    for stood in where.removeprefix(NO_END).split("; "):
        ranks, _, place = stood.partition(" in ")
        call = place.rpartition(", ")[2]
        if str(fault.rank) in ranks.split(" ", 1)[-1].split(", ") and call == fault.call:
            return True
        if call in WAIT_FOR_ALL:
            return False
    return False


def _is_told(fault: Fault, found: Faulty, after) -> bool:
    """Return whether the launch reports a wrong thread level or a wrong size of the world."""
    statuses = {one.status for one in after.values()}
    if fault.kind in LEVELS:
        header = found.lines[0]
        return header["thread_level"]["provided"] == "single" and statuses <= set(GOOD)
    return not statuses & set(GOOD)
