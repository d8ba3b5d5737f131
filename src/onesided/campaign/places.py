"""Where ranks stood when a launch hung or died, in words; a rank that is behind is first.

All ranks of a kernel begin the same collective calls in the same order. Of ranks that hang, the
rank that has begun the fewest is behind: the others may only be waiting for it. If several have
begun equally many, ranks that are in no collective call come first.
"""

import signal
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Line = Mapping[str, Any]


def of_hang(hangs: Iterable[Line], ranks: int) -> str:
    """Say where each rank of a cell that hung stood; the rank that is behind comes first.

    ``"rank 1 in access, MPI_Win_unlock; ranks 0, 2 in agree, MPI_Allreduce"``

    Args:
        hangs: hang lines; of several from one rank the last counts.
        ranks: how many there were; ranks without a line are named, too.
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
    """Say where the first rank died and how it ended; nothing if no rank died.

    ``"rank 1 in access, MPI_Win_lock: signal 11 (SIGSEGV); "``
    """
    if not crashes:
        return ""
    first = crashes[0]
    others = len({crash["rank"] for crash in crashes} - {first["rank"]})
    more = f" (and {others} more)" if others else ""
    return f"rank {first['rank']} in {_place(first)}: {_how_it_died(first['signal'])}{more}; "


def _position(hang: Line) -> tuple[int, bool, int]:
    """Return a key that sorts ranks by their progress; files of earlier kernels do not have it."""
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
