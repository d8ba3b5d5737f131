"""The cells of the progress table: their axes, their order, which of them a reader meets first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import axis_of, level_rank
from onesided.report.material import Cell, Material
from onesided.report.scope import size_label
from onesided.report.words import listed
from onesided.studies.stfc.progress.advice.decide import (
    BASE_STATE,
    DEFAULT_SETTING,
    PAYLOAD,
    base_payload,
)
from onesided.studies.stfc.progress.analysis import GHOST, IDLE

BASE_OPERATIONS = ("put", "get", "accumulate", "fetch_and_op")
FLAVORS = ("create", "allocate", "shared", "dynamic")
STATES = {
    BASE_STATE: "the target computes and makes no MPI call",
    "computes_probing": "the target computes and calls MPI_Iprobe now and then",
    "polls_memory": "the target polls its own memory inside MPI_Win_lock_all",
    "helper_blocked": "the target computes; a helper thread of it waits in MPI_Recv",
    "helper_polling": "the target computes; a helper thread of it calls MPI_Iprobe",
    GHOST: "the target computes; accesses go to a ghost process, which shares its memory",
}
"""Target states in the order in which they are shown, in words; an idle target has no verdict."""


def computing(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells whose target computes without help."""
    return [cell for cell in cells if axis_of(cell, "target_state") == BASE_STATE]


def first_group(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that speak at first sight: no variable set where that was run.

    They are the first place of each partition, and the ghost processes of its setting, which need a
    rank more. Where there are several places, `apart` has given each an environment of its own, so
    that nothing is pooled.
    """
    firsts: dict[tuple[Any, ...], list[Cell]] = {}
    others = [cell for cell in cells if axis_of(cell, "target_state") != GHOST]
    for group in groups(others or cells):
        firsts.setdefault(group[0].group[:2], group)
    for ghost in (cell for cell in cells if others and axis_of(cell, "target_state") == GHOST):
        first = firsts.get(ghost.group[:2])
        if first is not None and first[0].setting == ghost.setting:
            first.append(ghost)
    return [cell for group in firsts.values() for cell in group]


def groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the cells by setting and place, in the order declared, the default first."""
    found: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.group, []).append(cell)
    return sorted(found.values(), key=lambda group: group[0].setting != DEFAULT_SETTING)


def places(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells by place, all settings together, in the order declared."""
    found: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        system, partition, _, *how = cell.group
        found.setdefault((system, partition, *how), []).append(cell)
    return list(found.values())


def payload_of(cell: Cell) -> tuple[str, ...]:
    """Return layout, size and probing interval."""
    return tuple(axis_of(cell, name) for name in PAYLOAD)


def base_of(cells: Sequence[Cell]) -> tuple[str, ...] | None:
    """Return the payload that most cells have."""
    return base_payload([cell.entry for cell in cells])


def payload_words(payload: Sequence[str], base: Sequence[str] | None) -> str:
    """Say where a payload differs from the base: ``64 KiB, vector``."""
    shown = (
        lambda data: data,
        lambda size: size_label(int(size)),
        lambda interval: f"a probe every {interval}{numbers.THIN_SPACE}µs",
    )
    return ", ".join(
        show(value)
        for show, value, usual in zip(shown, payload, base or payload, strict=True)
        if value != usual
    )


def declared_order(cells: Iterable[Cell], axis: str, known: Sequence[str] = ()) -> list[str]:
    """Return an axis's values: those known first, in their order, then as declared."""
    present = dict.fromkeys(axis_of(cell, axis) for cell in cells)
    return [name for name in known if name in present] + [n for n in present if n not in known]


def levels_of(cells: Iterable[Cell]) -> list[str]:
    """Return the thread levels there are, in MPI's order."""
    return sorted({cell.thread_level or "?" for cell in cells}, key=level_rank)


def test_of(cell: Cell) -> str:
    """Return a test's name without the parameters that ReFrame puts after it."""
    return str(cell.test).split()[0]


def is_judged(cell: Cell) -> bool:
    """Tell whether a cell speaks of progress, or was meant to and failed."""
    return cell.verdict in (*verdicts.OBSERVED, verdicts.UNDECIDED, *verdicts.FAILURES)


def is_idle(cell: Cell) -> bool:
    """Tell whether nobody computes at the target."""
    return axis_of(cell, "target_state") == IDLE


def environments_of(material: Material, cells: Iterable[Cell]) -> list[str]:
    """Return the environments of some cells, in the campaign's order."""
    present = {cell.environment for cell in cells}
    return [name for name in material.environments if name in present]


def place_words(cells: Sequence[Cell]) -> str:
    """Say where and how some cells were run: ``laptop:node, 2 ranks, unbound, native``."""
    first = cells[0]
    words = (
        f"{first.system}:{first.partition}",
        numbers.count(first.ranks, "rank") if first.ranks is not None else None,
        first.placement,
        listed(list(dict.fromkeys(cell.launch_model for cell in cells if cell.launch_model))),
    )
    return ", ".join(word for word in words if word)
