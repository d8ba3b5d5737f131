"""What launches leave: a few of the cells, samples, and checks of what has to be there."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Mapping, Sequence

from onesided.environments import libraries

from .launching import Kernel, Run

#: So many launchers in a row do not all lose their ranks' words; five launchers once did.
LAUNCHERS = 20
#: So many launches in a row do not all run while the machine is busy for half a second.
BUSY = 3


def blocks(cells: Sequence[str]) -> list[str]:
    return [f"--cells={cell.replace(',', ';')}" for cell in cells]


def few_cells(statuses: Mapping[str, str], most: int = 3) -> list[str]:
    """Return some of the ok cells: the first, the last, and others between them."""
    ok = [cell for cell, status in statuses.items() if status == "ok"]
    last = len(ok) - 1
    return list(dict.fromkeys(ok[-(-place * last // (most - 1))] for place in range(most)))


def cells_for_three_ranks(statuses: Mapping[str, str]) -> list[str]:
    """Return the first and the last cell that two ranks ran, and cells that need more ranks.

    Three ranks on two cores are slow, but an unsupported cell takes no time.
    """
    few = few_cells(statuses)
    ends = (few[0], few[-1])
    return [cell for cell in statuses if cell in ends or statuses[cell] != "ok"]


def verified(result: Mapping) -> dict[str, tuple[int, int]]:
    """Return, by verification, the number of compared values and the number of errors."""
    return {one["name"]: (one["checked"], one["errors"]) for one in result["verification"]}


def samples(result: Mapping, metric: str) -> dict[int, list[float]]:
    """Return the samples of a result's series by rank."""
    return {one["rank"]: one["samples"] for one in result["series"] if one["metric"] == metric}


def with_fault_everywhere(
    kernel: Kernel,
    fault: str,
    *options: str,
    ranks: int = 2,
    calls: str = "any",
    count: str = "2",
    rank: int | str = "all",
) -> Run:
    """Launch with a fault in every cell; each cell finds its own, whatever way it communicates.

    Args:
        kernel: the kernel.
        fault: "lose", "stale", "alter" or "in_turn", as in fault.h.
        options: the kernel's options.
        ranks: the number of ranks.
        calls: the calls that may have the fault; "any" is any call with the kernel's data.
        count: the number of the call in each cell; "3/3" is the last of each burst of three.
        rank: the rank with the fault.
    """
    run = kernel.launch(*options, fault=f"{fault} {calls} {count} {rank} every", ranks=ranks)
    assert run.results
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "wrong_data")
    assert run.ended_with(3)
    return run


def assert_dead(
    run: Run,
    cells: Sequence[str],
    index: int,
    *,
    call: str | None,
    signal_number: int | None,
    words: str,
) -> str:
    """Check that the launch died in this cell, as the last rank wrote; return the phase."""
    assert run.code != 0
    assert run.statuses == dict.fromkeys(cells[:index], "ok")
    line = run.side_lines("crash")[1]
    assert (line["cell"], line["call"], line["signal"]) == (cells[index], call, signal_number)
    outcomes = [run.outcomes(cells)[cell] for cell in cells]
    assert [outcome.status for outcome in outcomes[: index + 1]] == ["ok"] * index + ["crash"]
    assert line["phase"] and outcomes[index].detail == (
        f"rank 1 in {line['phase']}, {words}; the launcher exited {run.code}"
    )
    return line["phase"]


def assert_dead_of_itself(run: Run, cells: Sequence[str], index: int) -> None:
    """Check that the launch died in this cell of `abort clock_gettime` in the last rank."""
    words = f"outside MPI: signal {signal.SIGABRT:d} (SIGABRT)"
    assert_dead(run, cells, index, call=None, signal_number=signal.SIGABRT, words=words)


def assert_a_hang_is_booked(kernel: Kernel, cells: Sequence[str]) -> Run:
    """Check that a hang in the first of these cells names each rank's place; return the launch."""
    cell = cells[0]
    # OpenSHMEM's launcher ends the other rank at once, perhaps before it has written; on a busy
    # machine the time before the cell may be half a second
    is_mpi = kernel.environment.library == libraries.MPI
    for _ in range(BUSY if is_mpi else LAUNCHERS):
        hangs = "hang clock_gettime 1 0 0"
        run = kernel.launch(*blocks(cells), "--cell-timeout-s=0.5", fault=hangs)
        assert run.code != 0
        sides = run.side_lines("hang")
        if [side["cell"] for side in sides.values()] == [cell, cell]:
            break
    assert {rank: side["cell"] for rank, side in sides.items()} == {0: cell, 1: cell}
    assert sides[0]["phase"] and sides[0]["call"] is None
    assert sides[1]["phase"] and sides[1]["call"]
    outcome = run.outcomes(cells)[cell]
    assert outcome.status == "hang"
    assert outcome.detail.startswith(f"rank 0 in {sides[0]['phase']}, outside MPI")
    return run


def assert_usage_fault(
    answer: subprocess.CompletedProcess, kernel: Kernel, field: str, found: str
) -> None:
    """Check that one line names the fault, and that the exit code is the code of bad input."""
    said = re.escape(f"{kernel.executable.name}: {field}: found {found}; expected ")
    assert re.fullmatch(f"{said}.+\n", answer.stderr), answer.stderr
    assert (answer.returncode, answer.stdout) == (2, "")
