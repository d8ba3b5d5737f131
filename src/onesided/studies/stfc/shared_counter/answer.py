"""The short answer about the shared counter: which MPIs make progress, and the longest wait."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl
from markupsafe import Markup

from onesided.campaign.grid import NO_MEANING
from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.answers import (
    MIXED,
    by_result,
    missing_sentence,
    rows_are,
    together,
    where,
)
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Headline, Measure, Row
from onesided.report.pivot import Fields
from onesided.report.words import listed
from onesided.report.written import range_words
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE, TARGET_RANK
from onesided.studies.stfc.shared_counter.cells import (
    FAMILIES,
    FLAVORS,
    WRITTEN,
    at_first_setting,
    compute_ms_of,
    least_spread,
    spread_of,
    steps,
    way_of,
)
from onesided.studies.stfc.ways import Way, completes, measured_with, reading, row_of

_span = partial(range_words, show=numbers.seconds)

SAY = WRITTEN.say

LONGEST = ("access", "idle", "slowdown", "where", "computes_s")
"""The fields of an answer's table row that describe the cell with the longest accesses."""

Key = tuple[str, str]
"""A family of algorithms for the counter, and a window flavor."""

Heard = Mapping[Key, Mapping[str, Sequence[Cell]]]
"""The cells of the short answer, for each family of algorithms with its flavor, and each MPI."""


# ------------------------------------------------------------------------------ the ways


def _out_of_step(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells with random compute, and the failed cells.

    If no cell has random compute, return all cells. With fixed compute, the ranks' compute phases
    align, so that few accesses are made while the target computes. Such cells are often undecided.
    In some cells with fixed compute, the verdict depends on one access that the machine delayed.
    """
    if not any(spread_of(cell) > 0 for cell in cells):
        return cells
    return [cell for cell in cells if spread_of(cell) > 0 or cell.verdict in verdicts.FAILURES]


def _members(cells: Iterable[Cell], key: Key) -> list[Cell]:
    """Return the cells that have the window flavor and any algorithm of the family."""
    algorithms, flavor = FAMILIES[key[0]]["algorithms"], key[1]
    own = (cell for cell in cells if cell.axis("flavor") == flavor)
    return [cell for cell in own if cell.axis("algorithm") in algorithms]


def families(cells: Sequence[Cell]) -> list[Key]:
    """Return the pairs of algorithm family and flavor that have cells, in the columns' order."""
    every = ((family, flavor) for family in FAMILIES for flavor in FLAVORS)
    return [key for key in every if _members(cells, key)]


def heard(material: Material, keys: Sequence[Key]) -> Heard:
    """Return the answer's cells, for each family of algorithms with its flavor, and each MPI.

    An MPI has no entry for algorithms that it does not declare. For instance, OpenSHMEM declares
    none of MPI's algorithms.
    """
    busy = [cell for cell in material.cells if cell.axis("case") == BASE_CASE]
    by_key = {key: grouped(_members(busy, key), lambda cell: cell.environment) for key in keys}
    return {
        key: {name: _out_of_step(own) for name, own in by_name.items()}
        for key, by_name in by_key.items()
    }


def ways(cells: Heard) -> list[Way]:
    """Return, for each family of algorithms and flavor, a way to program with its verdicts."""
    return [
        Way(
            ", ".join(key).replace(" ", "_").replace(",", ""),
            key[0] if key[1] == NO_MEANING else ", ".join(key),
            {name: together(own) for name, own in by_name.items()},
            [key],
        )
        for key, by_name in cells.items()
    ]


# ------------------------------------------------------------------------------ the longest wait


def _longest(material: Material, cells: Iterable[Cell]) -> Fields:
    """Return the fields of the answer's table row that describe the cell with the longest accesses.

    Cells in which the target never computed are left out. With fewer cores than ranks, other ranks
    may take all numbers of the counter before the target takes a number.

    Returns:
        The mean access while the target computes, the mean access while it is idle, and the ratio
        of these means; the cell in words; the target's shortest and longest measured compute in
        seconds. Each field is None if no cell has both means.
    """
    measures = [
        (cell, material.measure(cell, "access_mean", "origins"), material.measure(cell, "slowdown"))
        for cell in cells
        if cell.verdict not in verdicts.FAILURES
    ]
    known = [(cell, access, slow) for cell, access, slow in measures if access and slow]
    for cell, access, slowdown in sorted(known, key=lambda row: row[1].value, reverse=True):
        if computes_s := _computes_s(material, cell):
            idle, where = _idle(material, cell), _place_of(cell)
            return dict(zip(LONGEST, (access, idle, slowdown, where, computes_s), strict=True))
    return dict.fromkeys(LONGEST)


def _place_of(cell: Cell) -> str:
    length = numbers.milliseconds_label(compute_ms_of(cell))
    return ", ".join((*way_of(cell), length, steps(spread_of(cell)), str(cell.thread_level)))


def _computes_s(material: Material, cell: Cell) -> tuple[float, float] | None:
    """Return the shortest and the longest compute phase of a cell's target, in seconds.

    The result is None if the target got no number of the counter, and so had nothing to compute.
    """
    place = {name: getattr(cell, name) for name in PLACE}
    own = material.samples.filter(
        pl.col("metric") == "compute",
        pl.col("rank") == TARGET_RANK,
        *(pl.col(name) == value for name, value in place.items() if value is not None),
    )["value"]
    return (float(own.min()), float(own.max())) if own.len() else None


def _idle(material: Material, cell: Cell) -> Measure | None:
    """Return the mean access time of the same cell with an idle target.

    Of several cells with an idle target, the cell with the least spread of the compute is used.
    """

    def place(cell: Cell) -> tuple[object, ...]:
        axes = (cell.axis(name) for name in ("algorithm", "flavor", "compute_ms"))
        return (cell.group, cell.environment, cell.test, *axes)

    idle = [other for other in material.cells if other.axis("case") == IDLE_CASE]
    twins = grouped(idle, place).get(place(cell), [])
    measures = (material.measure(twin, "access_mean", "origins") for twin in least_spread(twins))
    return next((measure for measure in measures if measure), None)


def answer_row(material: Material, environment: str, cells: Heard) -> Fields:
    """Return the row of one environment in the short answer's table."""
    own = {
        key: {environment: by_name[environment]}
        for key, by_name in cells.items()
        if environment in by_name
    }
    busy = [
        cell
        for cell in material.cells
        if cell.environment == environment and cell.axis("case") == BASE_CASE
    ]
    return {
        **row_of(environment, ways(own)),
        "reading": reading([cell.verdict for by in own.values() for cell in by[environment]]),
        **_longest(material, busy),
    }


# ------------------------------------------------------------------------------ the answer


def headline(apart: Material, material: Material) -> Headline:
    """Return the answer: in which MPIs accesses complete during compute, and the longest wait."""
    # another setting may change the transport, so that its verdicts answer another question
    apart = replace(apart, cells=at_first_setting(apart.cells))
    cells = heard(apart, families(apart.cells))
    rows = [answer_row(apart, name, cells) for name in apart.environments]
    by_family = ways(cells)
    columns = {way.key: {"title": way.title} for way in by_family}
    table = WRITTEN.table("shared_counter_answer", rows, each={"way": columns})
    known = measured_with(apart.environments, apart.cells)
    sentences = _sentences(by_family, known, rows_are(apart.cells))
    sentences += _worst_sentences(rows)
    return Headline([*sentences, *missing_sentence(apart.environments, known)], table)


def _title(keys: Sequence[Key]) -> str:
    """Return the names of families of algorithms, with their window flavors.

    An example is ``an exclusive lock on create or allocate windows``.
    """
    flavors = {
        family: tuple(flavor for _, flavor in own)
        for family, own in grouped(keys, lambda key: key[0]).items()
    }
    named = []
    for own, alike in grouped(flavors, lambda family: flavors[family]).items():
        words = listed([FAMILIES[family]["words"] for family in alike], "or")
        windows = "" if own == (NO_MEANING,) else f" on {listed(own, 'or')} windows"
        named.append(words + windows)
    return "; ".join(named)


def _sentences(by_family: Sequence[Way], known: Sequence[str], plural: str) -> list[Markup]:
    """Say, for each family and flavor, in which MPIs an access completes during compute."""
    words = [
        (way.pairs[0], {name: way.words[name] for name in known if name in way.words})
        for way in by_family
    ]
    words = [(key, own) for key, own in words if own]
    observed = (*verdicts.OBSERVED, MIXED)
    if not any(word in observed for _, own in words for word in own.values()):
        return [SAY("undecided")]
    best, *others = ((_title(alike), own) for alike, own in by_result(words))
    return [
        SAY("best", best[0], where(best[1], plural)),
        *(SAY("way", title, completes(own, plural)) for title, own in others),
    ]


def _worst_sentences(rows: Sequence[Row]) -> list[Markup]:
    """Say how long the longest wait for the counter is."""
    slow = [row for row in rows if row["slowdown"] is not None and row["idle"] is not None]
    if not slow:
        return []
    worst = max(slow, key=lambda row: row["access"].value)
    others = [row["access"].high for row in slow if row is not worst]
    of_one_launch = any(row["access"].launches == 1 for row in slow)
    apart = all(high < worst["access"].low for high in others)
    if of_one_launch and others:
        said = _longest_of_all(slow, "longest_of_single_launches")
    else:
        said = _longest_of_one(worst) if apart else _longest_of_all(slow, "longest_of_all")
    if worst["access"].value > worst["computes_s"][1]:
        said += " " + SAY("several_answers")
    return [said]


def _longest_of_one(row: Row) -> Markup:
    """Say in which MPI accesses wait the longest; the intervals of all other MPIs are lower."""
    access, idle = (
        numbers.seconds(m.value)
        + (f" ({numbers.seconds(m.low)} to {numbers.seconds(m.high)})" if m.launches > 1 else "")
        for m in (row["access"], row["idle"])
    )
    computes = _span(row["computes_s"])
    return SAY("longest_of_one", row["environment"], access, computes, idle, row["where"])


def _longest_of_all(rows: Sequence[Row], sentence: str) -> Markup:
    """Give the range of the longest waits of all MPIs.

    `sentence` names a sentence that says why no MPI is known to be the slowest: the intervals of
    the longest waits overlap, or one launch has no interval.
    """
    access, idle = ([row[name].value for row in rows] for name in ("access", "idle"))
    computes = [length for row in rows for length in row["computes_s"]]
    return SAY(sentence, *map(_span, (access, computes, idle)))
