"""How each declared cell of a launch ended, and why.

The kernel's lines decide. If a cell has a result line, this line says how the cell ended. If a cell
began but has no result, a crash file, a hang file or the launch record says why. If no launch
reached a cell, the outcome has a detail that says why.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.campaign.records import DAMAGED, OK, Launch, launch_s
from onesided.environments import libraries
from onesided.system import paths

Line = Mapping[str, Any]


def of_hang(hangs: Iterable[Line], ranks: int) -> str:
    """Return a text that says where each rank was when a cell hung: in which phase and MPI call.

    For example: ``"rank 1 in access, MPI_Win_unlock; ranks 0, 2 in agree, MPI_Allreduce"``. The
    text names the rank with the least progress first, and also names ranks without a hang line. If
    a rank has several hang lines, the last line is used.
    """
    known = {hang["rank"]: hang for hang in hangs}
    stood: dict[str, list[int]] = {}
    for hang in sorted(known.values(), key=_position):
        stood.setdefault(f"in {_place(hang)}", []).append(hang["rank"])
    silent = [rank for rank in range(ranks) if rank not in known]
    if silent:
        stood["left no place"] = silent
    return "; ".join(f"{_named(numbers)} {words}" for words, numbers in stood.items())


def of_death(crashes: Sequence[Line]) -> str:
    """Return a text that says where and how the first rank died; empty if no rank died.

    For example: ``"rank 1 in access, MPI_Win_lock: signal 11 (SIGSEGV); "``
    """
    if not crashes:
        return ""
    first = crashes[0]
    others = len({crash["rank"] for crash in crashes} - {first["rank"]})
    more = f" (and {others} more)" if others else ""
    return f"rank {first['rank']} in {_place(first)}: {_how_it_died(first['signal'])}{more}; "


def _position(hang: Line) -> tuple[int, bool, int]:
    """Return a key that sorts hanging ranks by their progress, then by their numbers."""
    return hang.get("collectives", 0), hang.get("in_collective", False), hang["rank"]


def _place(line: Line) -> str:
    return f"{line['phase']}, {line['call'] or 'outside MPI'}"


def _named(numbers: Sequence[int]) -> str:
    return f"rank{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _how_it_died(number: int | None) -> str:
    if number is None:
        return "exited by itself"
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


#: The entry `asked` of a header if the launcher has no option for a placement.
AS_LAUNCHED = "launcher"
#: The label that says how many ranks each node had to get.
RANKS_PER_NODE = "ranks_per_node"
#: A launcher that exits 0 has run every cell. If lines are missing, the file has lost them.
NO_LINE = f"{DAMAGED}: the launcher exited 0, and no line of this cell is there"
NO_RESULT = f"{DAMAGED}: the launcher exited 0, and this cell was begun and has no result"
#: The phase of a rank in MPI_Init_thread.
INIT = "init"
#: The phase of a rank that is past its last cell.
FINALIZE = "finalize"


@dataclass(frozen=True)
class Expectation:
    """The values that the header lines of a launch must have.

    If a header has other values, the cells of the launch are `unavailable`.

    Attributes:
        library_version_pattern: the regular expression for the version string of the library.
        source_state: the state of the kernels' sources.
        placement: the placement that was asked for.
        mpi: the environment's name and library version, for a message.
        prefix: the folder of the library; None if it is not known.
    """

    ranks: int
    library_version_pattern: str
    source_state: str
    placement: str
    mpi: str
    prefix: str | None

    @classmethod
    def of(
        cls, environment: Mapping[str, Any], ranks: int, placement: str, source_state: str
    ) -> Expectation:
        """Return the values that a header line must have for an environment and a test."""
        return cls(
            ranks,
            environment["library_version_pattern"],
            source_state,
            placement,
            f"{environment['name']} ({environment['library_version']})",
            environment["prefix"],
        )


@dataclass(frozen=True)
class Outcome:
    """How a declared cell ended: its status, and perhaps one line of detail and its result line."""

    status: str
    detail: str | None
    result: dict[str, Any] | None = None


def _header_fault(header: Mapping[str, Any], expected: Expectation) -> str | None:
    """Return one line that says how a header differs from `expected`; None if the two agree."""
    version = header["mpi"]["library_version"]
    if header["ranks"] != expected.ranks:
        found = f"{header['ranks']} rank{'' if header['ranks'] == 1 else 's'}"
        return (
            f"found {found} in the world, expected {expected.ranks}: the launcher and the library "
            f"do not speak to each other ({_who_may_not_speak(header)})"
        )
    library = header["mpi"]["library_path"]
    if not re.search(expected.library_version_pattern, version):
        where = f" of {library}" if library else ""
        return f"ran with {version!r}{where}, expected {expected.mpi}"
    if library and expected.prefix and not paths.is_below(library, expected.prefix):
        return (
            f"ran with the library {library} of {version!r}, "
            f"expected that of {expected.mpi} in {expected.prefix}"
        )
    if header["source_state"] != expected.source_state:
        return f"kernel of sources {header['source_state']}, expected {expected.source_state}"
    asked, found = header["placement"]["asked"], header["placement"]["found"]
    if asked != AS_LAUNCHED and expected.placement != found:
        return f"placement {expected.placement} asked for, {found} found"
    return _nodes_fault(header)


def _who_may_not_speak(header: Mapping[str, Any]) -> str:
    """Return a question for the user: whether launcher and MPI library belong together."""
    version = f"{header['mpi']['library_version']!r}"
    if header["container"] is None:
        return f"is it the launcher of {version}?"
    return f"is it the launcher of the MPI in the container {header['container']}, {version}?"


def _nodes_fault(header: Mapping[str, Any]) -> str | None:
    """Return one line that says which ranks are on wrong nodes; None if the placement is right."""
    asked = header["labels"].get(RANKS_PER_NODE)
    if asked is None:
        return None
    if not (asked.isascii() and asked.isdecimal()) or int(asked) < 1:
        return f"{asked!r} ranks a node asked for, which is no number of ranks"
    per_node = int(asked)
    found = Counter(process["host"] for process in header["processes"])
    nodes = -(-header["ranks"] // per_node)
    if len(found) == nodes and max(found.values()) <= per_node:
        return None
    stood = ", ".join(f"{number} on {host}" for host, number in found.items())
    where = "1 node" if nodes == 1 else f"{nodes} nodes"
    return f"{per_node} ranks a node on {where} asked for, {stood} found"


def _how_it_ended(launch: Launch) -> tuple[str, str]:
    """Return the status and detail of the cells that the launch did not reach."""
    if not launch.attempts:
        return "not_run", "no launcher was started"
    last = launch.attempts[-1]
    if last["given_up"]:
        return "not_run", f"given up: launches in a row ended in their first cell{_first(launch)}"
    hangs = _outside_cells(launch.hangs)
    if last["exit_status"] and hangs:
        return "hang", f"{of_hang(hangs, _ranks(launch))}; before this cell"
    if last["timed_out"]:
        seconds = launch_s(last)
        died = of_death(_outside_cells(launch.crashes))
        return "not_run", f"{died}the launcher was ended after {seconds:.0f} s, before this cell"
    if last["exit_status"] is None:
        return "not_run", "the launcher was interrupted"
    if last["exit_status"] != 0 and _refused_to_start(launch):
        left = of_death(launch.crashes[None])
        asked = "is it the launcher of this MPI?"
        return "unavailable", f"{left}the launcher exited {last['exit_status']} ({asked})"
    if last["exit_status"] != 0:
        died = of_death(_outside_cells(launch.crashes))
        return "crash", f"{died}the launcher exited {last['exit_status']} before this cell"
    return "not_run", NO_LINE


def _first(launch: Launch) -> str:
    """Return why the last started cell without a result failed; empty if there is no such cell."""
    begun = [cell for cell in launch.started if cell not in launch.results]
    return f"; {_started_outcome(begun[-1], launch).detail}" if begun else ""


def _outside_cells(lines: Mapping[str | None, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the hang or crash lines of ranks before the first cell or between two cells."""
    return [line for line in lines.get(None, []) if line["phase"] != FINALIZE]


def _refused_to_start(launch: Launch) -> bool:
    """Tell whether all ranks ended in MPI_Init_thread; another MPI's launcher can cause this."""
    crashes = launch.crashes.get(None, [])
    ended = all(crash["phase"] == INIT and crash["signal"] is None for crash in crashes)
    return bool(crashes) and ended and not launch.headers


def _where_it_hung(cell: str, launch: Launch) -> str | None:
    """Return where the ranks hung in a cell; None if no rank hung or a signal ended a rank."""
    hangs = launch.hangs.get(cell, [])
    if cell not in launch.results or hangs:
        hangs = [*_ahead_of(cell, launch), *hangs]
    # if another rank hangs, a rank may exit by itself, but it does not die of a signal
    if not hangs or any(crash["signal"] for crash in launch.crashes.get(cell, [])):
        return None
    return of_hang(hangs, _ranks(launch))


def _ahead_of(cell: str, launch: Launch) -> Iterator[dict[str, Any]]:
    """If rank 0 was still in `cell`, yield the hang lines of ranks that were in the next cell."""
    if launch.started[-1:] == [cell]:
        for other, hangs in launch.hangs.items():
            for hang in hangs if other not in launch.started else []:
                where = f"{hang['phase']} of the next cell" if other else hang["phase"]
                yield {**hang, "phase": where}


def _ranks(launch: Launch) -> int:
    """Return how many ranks the launch had; 0 if there is no header line."""
    return launch.headers[-1]["ranks"] if launch.headers else 0


def _started_outcome(cell: str, launch: Launch) -> Outcome:
    """Return the outcome of a cell that began but has no result."""
    hung = _where_it_hung(cell, launch)
    if hung:
        return Outcome("hang", hung)
    died = of_death(launch.crashes.get(cell, []))
    # each launcher ended in the last cell that it began: find the launcher that ended in this cell
    order = [cell_id for cell_id in launch.started if cell_id not in launch.results]
    ended = [
        attempt
        for attempt in launch.attempts
        if not attempt["finished"] and attempt["cells_begun"] != 0
    ]
    position = order.index(cell)
    attempt = ended[position] if position < len(ended) else None
    if attempt is None or attempt["exit_status"] is None:
        interrupted = "the launch was interrupted in this cell"
        return Outcome("crash" if died else "not_run", f"{died}{interrupted}")
    if attempt["timed_out"]:
        ended_by = "the launch was ended in this cell by its time-out"
        return Outcome("crash" if died else "timed_out", f"{died}{ended_by}")
    if attempt["exit_status"] == 0 and not died:
        return Outcome("not_run", NO_RESULT)
    in_cell = "" if died else " in this cell"
    return Outcome("crash", f"{died}the launcher exited {attempt['exit_status']}{in_cell}")


def _lost_again(cell: str, launch: Launch) -> Outcome | None:
    """Return how a cell failed when it ran again after its result; None if it did not fail."""
    hung = _where_it_hung(cell, launch)
    if hung:
        return Outcome("hang", f"{hung}; it was run again after its end")
    died = of_death(launch.crashes.get(cell, []))
    return Outcome("crash", f"{died}it was run again after its end") if died else None


def of_cells(
    launch: Launch, declared: Iterable[str], expected: Expectation | None
) -> dict[str, Outcome]:
    """Return, for each declared cell of a launch, how the cell ended.

    `declared` has the ids of the declared cells, in order. If `expected` is None, the headers are
    not checked.
    """
    declared = list(declared)
    faults = [_header_fault(header, expected) for header in launch.headers] if expected else []
    fault = next((fault for fault in faults if fault), None)
    unreached = _how_it_ended(launch)
    found: dict[str, Outcome] = {}
    for cell in declared:
        damage = launch.damage.get(None) or launch.damage.get(cell)
        if fault:
            found[cell] = Outcome("unavailable", fault)
        elif damage:
            found[cell] = Outcome("not_run", damage)
        elif cell in launch.results:
            result = launch.results[cell]
            lost = _lost_again(cell, launch)
            found[cell] = lost or Outcome(result["status"], result["detail"], result)
        elif cell in launch.started:
            found[cell] = _started_outcome(cell, launch)
        else:
            found[cell] = Outcome(*unreached)
    _mark_teardown(launch, found)
    return found


def _finalize(launch: Launch) -> str:
    """Return the name of the call that ends the library: MPI_Finalize or shmem_finalize."""
    standard = launch.headers[-1]["mpi"]["standard"] if launch.headers else libraries.MPI
    return libraries.FINALIZE[standard]


def _mark_teardown(launch: Launch, found: dict[str, Outcome]) -> None:
    """If a launch failed after its last cell, mark the last cell that ran as a teardown failure."""
    crashes, hangs = (
        [line for line in lines.get(None, []) if line["phase"] == FINALIZE]
        for lines in (launch.crashes, launch.hangs)
    )
    # if all cells are done, a relaunch only finishes: it does not show how an earlier launcher died
    if (launch.finished and not crashes and not hangs) or not launch.attempts:
        return
    if len(launch.results) < len(found):
        return
    ran = [cell for cell in launch.results if launch.results[cell]["status"] != "unsupported"]
    last = ran[-1] if ran else None
    if last in found and found[last].status == OK:
        lost = [attempt for attempt in launch.attempts if not attempt["finished"]]
        status = (lost or launch.attempts)[-1]["exit_status"]
        stood = f"{of_hang(hangs, _ranks(launch))}; " if hangs else ""
        found[last] = Outcome(
            "teardown_failure",
            f"all cells were over, then {_finalize(launch)} did not return: "
            f"{stood}{of_death(crashes)}the launcher exited {status}",
            found[last].result,
        )
