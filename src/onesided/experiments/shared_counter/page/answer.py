"""The counter in ten seconds: which MPI progresses, and the worst slowdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.analysis import verdicts
from onesided.experiments.shared_counter.analysis import BASE_CASE
from onesided.experiments.shared_counter.page.cells import (
    FAMILIES,
    FLAVORS,
    compute_ms_of,
    jitter_of,
    steps,
)
from onesided.report import numbers
from onesided.report.cells import axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Headline, Measure, Row, Table
from onesided.report.words import listed, tally


def _combined(cells: Sequence[Cell]) -> tuple[str, str | None]:
    """Return one word for several cells, and what it hides."""
    words = [cell.verdict for cell in cells]
    if not words:
        return verdicts.NOT_RUN, "no such cell was declared"
    for word in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        if word in words and (word in verdicts.FAILURES or set(words) <= {word}):
            first = next(cell.detail for cell in cells if cell.verdict == word)
            return word, f"{tally(words)}: {first}" if first else tally(words)
    seen = [word for word in words if word in verdicts.OBSERVED]
    if not seen:
        return verdicts.UNDECIDED, cells[0].detail
    return (seen[0] if len(set(seen)) == 1 else "mixed"), tally(words)


def _out_of_step(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells with jitter where there are any, and every failure.

    With equal computes the ranks fall into step, and few accesses meet a computing target: such
    cells are often undecided, and one access that the machine held up decides the others.
    """
    if not any(jitter_of(cell) > 0 for cell in cells):
        return cells
    return [cell for cell in cells if jitter_of(cell) > 0 or cell.verdict in verdicts.FAILURES]


def _family_key(family: str, flavor: str) -> str:
    return f"{family}, {flavor}".replace(" ", "_").replace(",", "")


def families(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return the families and flavors that were declared, in the order of the columns."""
    present = {axis_of(cell, "algorithm") for cell in cells}
    return [
        (family, flavor)
        for family, members in FAMILIES.items()
        if present & set(members)
        for flavor in FLAVORS
        if any(axis_of(cell, "flavor") == flavor for cell in cells)
    ]


def _worst(material: Material, cells: Iterable[Cell]) -> tuple[Measure, Cell] | None:
    found = [(material.measure(cell, "slowdown"), cell) for cell in cells]
    known = [(measure, cell) for measure, cell in found if measure is not None]
    return max(known, key=lambda pair: pair[0].value, default=None)


def _reading(words: Mapping[tuple[str, str], str]) -> str:
    """Say what an environment's row of verdicts is consistent with."""
    measured = {key: word for key, word in words.items() if word in (*verdicts.OBSERVED, "mixed")}
    if not measured:
        return "nothing measured" if set(words.values()) <= set(verdicts.NOT_MEASURED) else "open"
    independent = [key for key, word in measured.items() if word == verdicts.INDEPENDENT]
    if len(independent) == len(words):
        return "consistent with strong progress"
    if not independent:
        return "consistent with weak progress"
    return "consistent with weak progress; independent in part"


def answer_row(
    material: Material, environment: str, keys: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Return an environment's row of the answer, and its verdicts by family and flavor."""
    cells = [
        cell
        for cell in material.cells
        if cell.environment == environment and axis_of(cell, "case") == BASE_CASE
    ]
    row: dict[str, Any] = {"environment": environment}
    words: dict[tuple[str, str], str] = {}
    for family, flavor in keys:
        chosen = [
            cell
            for cell in cells
            if axis_of(cell, "algorithm") in FAMILIES[family] and axis_of(cell, "flavor") == flavor
        ]
        words[family, flavor], _ = _combined(_out_of_step(chosen))
        row[_family_key(family, flavor)] = words[family, flavor]
    worst = _worst(material, cells)
    row["reading"] = _reading(words)
    row["slowdown"] = worst[0] if worst else None
    row["where"] = _place_of(worst[1]) if worst else None
    return row, words


def _place_of(cell: Cell) -> str:
    return (
        f"{axis_of(cell, 'algorithm')}, {axis_of(cell, 'flavor')}, "
        f"{numbers.milliseconds_label(compute_ms_of(cell))} {steps(jitter_of(cell))}, "
        f"{cell.thread_level}"
    )


def headline(material: Material) -> Headline:
    """Return which MPI progresses here, and by what factor the worst case is slower."""
    keys = families(material.cells)
    rows, full, part, none = [], [], [], []
    for environment in material.environments:
        row, words = answer_row(material, environment, keys)
        rows.append(row)
        seen = [word for word in words.values() if word in (*verdicts.OBSERVED, "mixed")]
        if not seen:
            continue
        independent = list(words.values()).count(verdicts.INDEPENDENT)
        group = full if independent == len(words) else part if independent else none
        group.append(environment)
    columns = [
        Column("environment", "MPI", header=True, note="reading"),
        *(
            Column(_family_key(family, flavor), f"{family}, {flavor}", verdict=True)
            for family, flavor in keys
        ),
        Column("slowdown", "slowest, over idle", numbers.factor, measure=True),
    ]
    table = Table(
        "shared_counter_answer",
        "Does an access to the counter complete while the process that holds it computes? By "
        "synchronisation and window flavor, over compute lengths and thread levels; where computes "
        "of random length were run, from those: with equal ones the ranks fall into step.",
        columns,
        rows,
        csv_only=(Column("reading", "reads as"), Column("where", "found with")),
        form="cards",
    )
    return Headline(_sentences(full, part, none, rows), table)


def _sentences(
    full: Sequence[str], part: Sequence[str], none: Sequence[str], rows: Sequence[Row]
) -> list[Markup]:
    groups = (
        (full, "progresses in every cell", "progress in every cell"),
        (part, "progresses in part", "progress in part"),
        (none, "makes the caller wait", "make the caller wait"),
    )
    said = [
        Markup("<strong>{}</strong> {}").format(listed(names), one if len(names) == 1 else many)
        for names, one, many in groups
        if names
    ]
    sentences = [Markup("; ").join(said) + "."] if said else []
    slow = [row for row in rows if row["slowdown"] is not None]
    if slow:
        worst = max(slow, key=lambda row: row["slowdown"].value)
        sentences.append(
            Markup(
                "The worst case: with {}, an access takes <strong>{}</strong> as long while the "
                "target computes as it does when the target is idle ({})."
            ).format(worst["environment"], numbers.factor(worst["slowdown"].value), worst["where"])
        )
    return sentences
