"""The cells of the kernel progress: their axes, their order, and which cells a page shows first."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.cells import verdicts
from onesided.environments.settings import DEFAULT as DEFAULT_SETTING
from onesided.report import numbers
from onesided.report.cells import grouped, level_rank
from onesided.report.material import Cell, Material
from onesided.report.scope import size_label
from onesided.report.words import listed
from onesided.report.written import PageText
from onesided.studies.stfc.progress.analysis import GHOST, IDLE

WRITTEN = PageText(Path(__file__).with_name("page.yaml"))
FLAVORS: Mapping[str, Mapping[str, str]] = WRITTEN.names["flavors"]
SYNCHRONISATIONS: Mapping[str, Mapping[str, str]] = WRITTEN.names["synchronisations"]
STATES: Mapping[str, str] = WRITTEN.names["states"]
"""The words for each target state, in the order of the page. An idle target has no verdict, so this
state is not listed."""

BASE_STATE = "computes"
BASE_OPERATIONS = ("put", "get", "accumulate", "fetch_and_op")
PAYLOAD = ("data", "size_bytes", "probe_interval_us")
"""The axes of a cell's payload: layout, message size and probing interval."""

Payload = tuple[str, ...]


def computing(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells in which the target computes without help."""
    return [cell for cell in cells if cell.axis("target_state") == BASE_STATE]


def first_group(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that a page shows first: the cells that set no variable, if they were run.

    For each partition, the page first shows one group: the same number of ranks and placement.
    Cells with ghost processes belong to the group of the same setting, although these cells have
    one more rank. If there are several partitions, `apart` has given each partition environments of
    its own, so that the cells of two partitions are not mixed.
    """
    ghosts = [cell for cell in cells if cell.axis("target_state") == GHOST]
    others = [cell for cell in cells if cell.axis("target_state") != GHOST]
    by_partition = grouped(groups(others or cells), lambda group: group[0].group[:2])
    firsts = {partition: own[0] for partition, own in by_partition.items()}
    for ghost in ghosts if others else ():
        first = firsts.get(ghost.group[:2])
        if first is not None and first[0].setting == ghost.setting:
            first.append(ghost)
    return [cell for group in firsts.values() for cell in group]


ON_HOSTS = "hosts"
"""The setting that gives each rank a host of its own; all these hosts are made on this machine."""


def between_nodes(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with ranks on hosts of this machine, which represent several nodes.

    Cells with the setting `tcp` on one node do not represent several nodes: with this setting, Open
    MPI keeps allocated windows in shared memory. Nothing is returned if the campaign has ranks that
    ran on several real nodes.
    """
    others = [cell for cell in cells if cell.setting != ON_HOSTS]
    if not others or any(map(is_on_several_nodes, others)):
        return []
    return next((group for group in groups(cells) if group[0].setting == ON_HOSTS), [])


def is_on_several_nodes(cell: Cell) -> bool:
    """Tell whether the ranks of a cell were on several nodes."""
    return (getattr(cell, "nodes", None) or 1) > 1


def groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return groups of cells with equal setting, partition, ranks and placement; default first."""
    by_place = grouped(cells, lambda cell: cell.group).values()
    return sorted(by_place, key=lambda group: group[0].setting != DEFAULT_SETTING)


def places(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return groups of cells with equal partition, ranks and placement, in declared order."""
    return list(grouped(cells, lambda cell: (cell.group[:2], cell.group[3:])).values())


def way_of(cell: Cell) -> tuple[str, str]:
    """Return a cell's way to access a window: its window flavor and its synchronisation."""
    return cell.axis("flavor"), cell.axis("synchronisation")


def payload_of(cell: Cell) -> Payload:
    """Return a cell's payload: its layout, message size and probing interval."""
    return tuple(cell.axis(name) for name in PAYLOAD)


def base_of(cells: Sequence[Cell]) -> Payload | None:
    """Return the payload that most cells have: the base.

    Each other payload differs from the base on one axis.
    """
    known = grouped(map(payload_of, cells), lambda payload: payload)
    return max(known, key=lambda payload: len(known[payload]), default=None)


def payload_words(payload: Sequence[str], base: Sequence[str] | None) -> str:
    """Say how a payload differs from the base: ``64 KiB, vector``."""
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


def base_words(base: Sequence[str] | None) -> str:
    """Return the layout and the size of a payload in words."""
    return payload_words(base, ("", "", base[2])) if base else ""


def head_of(cell: Cell, base: Sequence[str] | None, with_level: bool = False) -> dict[str, Any]:
    """Return the entries of a table row that name a cell.

    The payload `base` is left out. With `with_level`, the text below the operation has the thread
    level.
    """
    names = ("operation", "flavor", "synchronisation", "data", "size_bytes")
    payload = payload_words(payload_of(cell), base)
    how = (*way_of(cell), payload, cell.thread_level if with_level else None)
    return {
        "environment": cell.environment,
        **{name: cell.axis(name) for name in names},
        "with": ", ".join(str(word) for word in how if word),
    }


def declared_order(cells: Iterable[Cell], axis: str, known: Iterable[str] = ()) -> list[str]:
    """Return the values of an axis that occur in the cells.

    Values in `known` come first, in the order of `known`. The other values follow, in the order of
    the cells.
    """
    order = dict.fromkeys(known)
    present = dict.fromkeys(cell.axis(axis) for cell in cells)
    return [name for name in order if name in present] + [n for n in present if n not in order]


def levels_of(cells: Iterable[Cell]) -> list[str]:
    """Return the thread levels of the cells, from the lowest to the highest."""
    return sorted({cell.thread_level or "?" for cell in cells}, key=level_rank)


def test_of(cell: Cell) -> str:
    """Return the name of a cell's test, without the parameters that ReFrame adds."""
    return str(cell.test).split()[0]


def is_judged(cell: Cell) -> bool:
    """Tell whether a cell was judged.

    A cell was judged if its verdict says how an operation progressed, is `verdicts.UNDECIDED`, or
    is a failure.
    """
    return cell.verdict in (*verdicts.OBSERVED, verdicts.UNDECIDED, *verdicts.FAILURES)


def is_idle(cell: Cell) -> bool:
    """Tell whether the target of a cell's accesses is idle."""
    return cell.axis("target_state") == IDLE


def environments_of(material: Material, cells: Iterable[Cell]) -> list[str]:
    """Return the environments of the given cells, in the campaign's order."""
    present = {cell.environment for cell in cells}
    return [name for name in material.environments if name in present]


def place_words(cells: Sequence[Cell]) -> str:
    """Say where and how the cells were run: ``laptop:node, 2 ranks, unbound, native``."""
    first = cells[0]
    words = (
        f"{first.system}:{first.partition}",
        numbers.count(first.ranks, "rank") if first.ranks is not None else None,
        first.placement,
        listed(list(dict.fromkeys(cell.launch_model for cell in cells if cell.launch_model))),
    )
    return ", ".join(word for word in words if word)
