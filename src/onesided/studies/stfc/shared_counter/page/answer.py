"""The counter in ten seconds: which MPI progresses, and the worst slowdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from onesided.campaign.grid import NO_MEANING
from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.answers import (
    MIXED,
    by_result,
    completes,
    measured,
    missing_sentence,
    reading,
    rows_are,
    together,
    where,
)
from onesided.report.cells import axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Headline, Measure, Row, Table
from onesided.report.words import listed
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE, TARGET_RANK
from onesided.studies.stfc.shared_counter.page.cells import (
    FAMILIES,
    FLAVORS,
    compute_ms_of,
    least_spread,
    spread_of,
    steps,
    way_of,
)

FAMILY_WORDS: Mapping[str, str] = {
    "exclusive lock": "an exclusive lock",
    "atomic in a shared lock": "an atomic operation in a shared lock",
    "atomic and flush": "an atomic operation and a flush",
    "SHMEM atomic": "an atomic operation of OpenSHMEM",
}
SEVERAL_ANSWERS = (
    "An access can take longer than one compute: if it needs several answers of the target, each "
    "of them can wait for a compute."
)


def _out_of_step(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells with random compute where there are any, and every failure.

    With fixed compute the ranks fall into step, and few accesses meet a computing target: such
    cells are often undecided, and one access that the machine held up decides the others.
    """
    if not any(spread_of(cell) > 0 for cell in cells):
        return cells
    return [cell for cell in cells if spread_of(cell) > 0 or cell.verdict in verdicts.FAILURES]


def _family_key(family: str, flavor: str) -> str:
    return f"{family}, {flavor}".replace(" ", "_").replace(",", "")


def _family_title(family: str, flavor: str) -> str:
    return family if flavor == NO_MEANING else f"{family}, {flavor}"


def _members(cells: Sequence[Cell], family: str, flavor: str) -> list[Cell]:
    """Return the cells of a family and flavor."""
    return [
        cell
        for cell in cells
        if axis_of(cell, "algorithm") in FAMILIES[family] and axis_of(cell, "flavor") == flavor
    ]


def families(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return the families and flavors that were declared, in the order of the columns."""
    return [
        (family, flavor)
        for family in FAMILIES
        for flavor in FLAVORS
        if _members(cells, family, flavor)
    ]


@dataclass(frozen=True)
class Worst:
    """The cell in which an access takes longest.

    Attributes:
        cell: it.
        access: the mean access while the target computes.
        idle: the same while the target is idle; None where it was not measured.
        slowdown: the first over the second.
        computes_s: the shortest and the longest compute of the target, as they were, in seconds.
    """

    cell: Cell
    access: Measure
    idle: Measure | None
    slowdown: Measure
    computes_s: tuple[float, float]


def _worst(material: Material, cells: Iterable[Cell]) -> Worst | None:
    """Return the worst of some cells whose target did compute; None where none has both times.

    With fewer cores than ranks another rank may take every number before the target has one.
    """
    found = [
        (cell, material.measure(cell, "access_mean", "origins"), material.measure(cell, "slowdown"))
        for cell in cells
        if cell.verdict not in verdicts.FAILURES
    ]
    known = [(cell, access, slow) for cell, access, slow in found if access and slow]
    for cell, access, slow in sorted(known, key=lambda one: one[1].value, reverse=True):
        if computes_s := _computes_s(material, cell):
            return Worst(cell, access, _idle(material, cell), slow, computes_s)
    return None


def _computes_s(material: Material, cell: Cell) -> tuple[float, float] | None:
    """Return the shortest and the longest compute of a cell's target, as they were, in seconds.

    None is for a target that had no number, and nothing to compute.
    """
    where = {name: getattr(cell, name) for name in PLACE}
    own = material.campaign.samples.filter(
        pl.col("metric") == "compute",
        pl.col("rank") == TARGET_RANK,
        *(pl.col(name) == value for name, value in where.items() if value is not None),
    )["value"]
    return (float(own.min()), float(own.max())) if own.len() else None


def _idle(material: Material, cell: Cell) -> Measure | None:
    """Return the mean access to an idle target of the same cell, of the least spread there is."""

    def place(one: Cell) -> tuple[object, ...]:
        axes = (axis_of(one, name) for name in ("algorithm", "flavor", "compute_ms"))
        return (one.group, one.environment, one.test, *axes)

    idle = (one for one in material.cells if axis_of(one, "case") == IDLE_CASE)
    twins = [one for one in idle if place(one) == place(cell)]
    measures = [material.measure(one, "access_mean", "origins") for one in least_spread(twins)]
    return next((one for one in measures if one), None)


def answer_row(
    material: Material, environment: str, keys: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Return an environment's row of the answer, and its verdicts by family and flavor.

    What was not declared for it has no verdict: OpenSHMEM has none of MPI's algorithms.
    """
    cells = [
        cell
        for cell in material.cells
        if cell.environment == environment and axis_of(cell, "case") == BASE_CASE
    ]
    row: dict[str, Any] = {"environment": environment}
    words: dict[tuple[str, str], str] = {}
    heard: list[Cell] = []
    for family, flavor in keys:
        chosen = _members(cells, family, flavor)
        if not chosen:
            continue
        used = _out_of_step(chosen)
        heard += used
        found = together(used)
        words[family, flavor] = found.word
        key = _family_key(family, flavor)
        row |= {key: found.word, f"{key}_note": found.note}
    worst = _worst(material, cells)
    row["reading"] = reading([cell.verdict for cell in heard])
    row["access"] = worst.access if worst else None
    row["idle"] = worst.idle if worst else None
    row["slowdown"] = worst.slowdown if worst else None
    row["where"] = _place_of(worst.cell) if worst else None
    row["computes_s"] = worst.computes_s if worst else None
    return row, words


def _place_of(cell: Cell) -> str:
    return (
        f"{', '.join(way_of(cell))}, "
        f"{numbers.milliseconds_label(compute_ms_of(cell))}, {steps(spread_of(cell))}, "
        f"{cell.thread_level}"
    )


def headline(material: Material) -> Headline:
    """Return where the counter's owner has to come to MPI, and the longest wait."""
    keys = families(material.cells)
    found = {name: answer_row(material, name, keys) for name in material.environments}
    rows = [row for row, _ in found.values()]
    columns = [
        Column("environment", "MPI", header=True),
        *(
            Column(key, _family_title(family, flavor), verdict=True, note=f"{key}_note")
            for family, flavor in keys
            for key in (_family_key(family, flavor),)
        ),
        Column("access", "longest mean access", numbers.seconds, measure=True, unit="s"),
        Column("idle", "the same, target idle", numbers.seconds, measure=True, unit="s"),
    ]
    table = Table(
        "shared_counter_answer",
        "Does an access to the counter complete while the process that holds it computes? By "
        "synchronisation and window flavor, over compute lengths and thread levels; where random "
        "compute was run, from that: with fixed compute the ranks fall into step.",
        columns,
        rows,
        csv_only=(
            Column("reading", "reads as"),
            Column("slowdown", "access over idle", numbers.factor, measure=True),
            Column("where", "found with"),
        ),
        form="cards",
    )
    known = measured(material.environments, material.cells)
    words = {name: found[name][1] for name in known}
    sentences = _sentences(keys, words, rows_are(material.cells))
    sentences += _worst_sentences(rows)
    return Headline([*sentences, *missing_sentence(material.environments, known)], table)


def _title(keys: Sequence[tuple[str, str]]) -> str:
    """Name families on flavors: ``an exclusive lock on create or allocate windows``."""
    flavors: dict[str, list[str]] = {}
    for family, flavor in keys:
        flavors.setdefault(family, []).append(flavor)
    same: dict[tuple[str, ...], list[str]] = {}
    for family, own in flavors.items():
        same.setdefault(tuple(own), []).append(FAMILY_WORDS[family])
    return "; ".join(
        listed(families, "or")
        + ("" if own == (NO_MEANING,) else f" on {listed(own, 'or')} windows")
        for own, families in same.items()
    )


def _sentences(
    keys: Sequence[tuple[str, str]],
    words: Mapping[str, Mapping[tuple[str, str], str]],
    plural: str,
) -> list[Markup]:
    """Say for each family and flavor in which MPIs an access completes."""
    of_keys = [(key, {n: own[key] for n, own in words.items() if key in own}) for key in keys]
    found = [(key, own) for key, own in of_keys if own]
    observed = (*verdicts.OBSERVED, MIXED)
    if not any(word in observed for _, own in found for word in own.values()):
        return [Markup("No cell is decided in which the process that holds the counter computes.")]
    best, *others = ((_title(same), own) for same, own in by_result(found))
    first = Markup(
        "With <strong>{}</strong>, an access completes while the process that holds the counter "
        "computes {}."
    ).format(best[0], where(best[1], plural))
    rest = [Markup("With {}: {}.").format(title, completes(own, plural)) for title, own in others]
    return [first, *rest]


def _worst_sentences(rows: Sequence[Row]) -> list[Markup]:
    """Say how long the longest wait is."""
    slow = [row for row in rows if row["slowdown"] is not None and row["idle"] is not None]
    if not slow:
        return []
    worst = max(slow, key=lambda row: row["access"].value)
    others = [row["access"].high for row in slow if row is not worst]
    apart = all(high < worst["access"].low for high in others)
    said = _longest_of_one(worst) if apart else _longest_of_all(slow)
    if worst["access"].value > worst["computes_s"][1]:
        said += " " + SEVERAL_ANSWERS
    return [said]


def _longest_of_one(row: Row) -> Markup:
    """Name the MPI with the longest wait: its interval is apart from those of all others."""
    access, idle = (
        f"{numbers.seconds(m.value)} ({numbers.seconds(m.low)} to {numbers.seconds(m.high)})"
        for m in (row["access"], row["idle"])
    )
    return Markup(
        "The longest wait: with {}, an access takes <strong>{}</strong> on average while the "
        "target computes for {}, and {} while the target is idle ({})."
    ).format(row["environment"], access, _span(row["computes_s"]), idle, row["where"])


def _longest_of_all(rows: Sequence[Row]) -> Markup:
    """Give the range over all MPIs: the longest waits of several have intervals that overlap."""
    access, idle = ([row[name].value for row in rows] for name in ("access", "idle"))
    computes = [length for row in rows for length in row["computes_s"]]
    return Markup(
        "The longest mean access of each MPI takes <strong>{}</strong> while the target computes "
        "for {}, and {} while the target is idle. The intervals overlap: none is known to be the "
        "slowest."
    ).format(_span(access), _span(computes), _span(idle))


def _span(times_s: Sequence[float]) -> str:
    """Say from when to when some times are, in seconds: ``5.57 ms to 20.1 ms``."""
    ends = dict.fromkeys((numbers.seconds(min(times_s)), numbers.seconds(max(times_s))))
    return " to ".join(ends)
