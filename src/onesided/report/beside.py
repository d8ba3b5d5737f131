"""The section that compares a campaign with another of the same cells: another provider's, say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onesided.cells.experiment import Experiments
from onesided.compare import compare, reproducibility, weigh
from onesided.compare.reproducibility import Figure, Pair
from onesided.compare.weigh import Difference, Whole
from onesided.environments.settings import DEFAULT
from onesided.measure import statistics
from onesided.measure.statistics import INTERVAL, MINIMUM_COVERAGE
from onesided.report import numbers
from onesided.report.parts import Column, Measure, Row, Section, Table
from onesided.system.errors import InputError

IDENTIFIER = "beside"


def section(folder: Path, other: str, experiments: Experiments) -> Section:
    """Return the section; one that says why, where the other campaign's results cannot be read.

    Args:
        folder: of this campaign's results.
        other: the other campaign's name; its results are beside this one's.
        experiments: that judged both.
    """
    title = f"Beside the campaign {other}"
    try:
        found = reproducibility.pairs(folder.parent / other, folder, experiments)
        figures = reproducibility.figures(found)
        wholes = compare.compare(folder.parent / other, folder, experiments).wholes
    except InputError as fault:
        lead = f"Nothing is compared: {fault}. Run that campaign, then this report again."
        return Section(IDENTIFIER, title, lead.replace("..", "."), ())
    lead = (
        "The same cells in two campaigns, without helpers and with a core for each thread. A "
        "cell's value is its uncontended "
        "latency or, for the counter, its degradation factor; its ratio is this campaign over the "
        f"other. Inside means that it lies where a rerun of {other} would, in 95"
        f"{numbers.THIN_SPACE}% of all cases, if nothing had changed."
    )
    tables = [
        _cells(
            [pair for pair in found if pair.cell["kernel"] == kernel],
            kernel,
            experiments.merits[kernel].metric,
            other,
        )
        for kernel in dict.fromkeys(pair.cell["kernel"] for pair in found)
    ]
    return Section(
        IDENTIFIER, title, lead, (_figures(figures), _environments(found, wholes), *tables)
    )


def _figures(figures: Sequence[Figure]) -> Table:
    rows = [
        {
            "figure": figure.name,
            "count": figure.count,
            "total": figure.total,
            "share": f"{100 * figure.share:.1f}{numbers.THIN_SPACE}%",
            "bound": _bound(figure),
            "holds": None if figure.bound is None else "yes" if figure.holds else "no",
        }
        for figure in figures
    ]
    columns = [
        Column("figure", "figure", header=True),
        Column("count", "cells", str),
        Column("total", "of", str),
        Column("share", "share"),
        Column("bound", "asked"),
        Column("holds", "holds"),
    ]
    return Table("beside_figures", "How much of the other campaign comes again.", columns, rows)


def _bound(figure: Figure) -> str | None:
    if figure.bound is None:
        return None
    words = "at most" if figure.at_most else "at least"
    return f"{words} {100 * figure.bound:.0f}{numbers.THIN_SPACE}%"


def _environments(found: Sequence[Pair], wholes: Sequence[Whole]) -> Table:
    """Return how the environments differ; the last ratio is that of `compare`, over launches."""
    # the first of an environment is that of all its cells
    differences = {
        whole.environment: whole.difference
        for whole in reversed(wholes)
        if whole.setting == DEFAULT
    }
    rows = []
    for name in dict.fromkeys(pair.cell["environment"] for pair in found):
        here = [pair for pair in found if pair.cell["environment"] == name]
        ratios = [pair.ratio for pair in here if pair.ratio]
        rows.append(
            {
                "environment": name,
                "cells": len(here),
                "turned": sum(_is_turned(pair) for pair in here),
                "ratio": statistics.geometric_mean(ratios) if ratios else None,
                "outside": sum(pair.is_inside is False for pair in here),
                "over_launches": measure_of_difference(differences[name])
                if name in differences
                else None,
                "difference": differences[name].word if name in differences else None,
            }
        )
    columns = [
        Column("environment", "MPI", header=True),
        Column("cells", "cells", str),
        Column("turned", "verdicts that differ", str),
        Column("ratio", "ratio, geometric mean", numbers.ratio),
        Column("outside", "ratios outside", str),
        Column("over_launches", "ratio over launches", numbers.ratio, measure=True),
        Column("difference", "difference"),
    ]
    caption = (
        "By environment. The last ratio is that of onesided compare; "
        f"{weigh.SAME}: noise and drift explain it."
    )
    return Table("beside_environments", caption, columns, rows)


def _is_turned(pair: Pair) -> bool:
    return pair.cell["verdict"] != pair.again["verdict"]


def _order(pair: Pair) -> tuple[bool, bool]:
    return not _is_turned(pair), pair.is_inside is not False


def axes_that_differ(found: Sequence[Pair]) -> list[str]:
    """Return the axes on which the cells differ."""
    axes = list(dict.fromkeys(axis for pair in found for axis in pair.cell["labels"]))
    return [axis for axis in axes if len({pair.cell["labels"].get(axis) for pair in found}) > 1]


def _row(pair: Pair, axes: Sequence[str]) -> dict[str, Any]:
    labels = pair.cell["labels"]
    return {
        "environment": pair.cell["environment"],
        "what": ", ".join(str(labels[axis]) for axis in axes if axis in labels),
        "cell": pair.cell["cell"],
        "thread_level": pair.cell["thread_level"],
        "there": pair.cell["verdict"],
        "here": pair.again["verdict"],
        "value_there": measure_of(pair.value),
        "value_here": measure_of(pair.value_again),
        "ratio": pair.ratio,
        "inside": None if pair.is_inside is None else "yes" if pair.is_inside else "no",
    }


def measure_of(row: Row | None) -> Measure | None:
    """Return a row of the summary as it is shown; None without one."""
    return Measure.of(row) if row is not None else None


def measure_of_difference(difference: Difference) -> Measure:
    """Return a ratio of two campaigns with its interval, as it is shown."""
    low, high = (
        difference.ratio if end is None else end for end in (difference.low, difference.high)
    )
    # without an interval nothing is shown beside the ratio
    launches = difference.launches if difference.low is not None else 1
    return Measure(difference.ratio, low, high, MINIMUM_COVERAGE, INTERVAL, launches)


def _cells(found: Sequence[Pair], kernel: str, metric: str, other: str) -> Table:
    """Return the table of one kernel's cells, whose values are all of one kind."""
    units = {pair.value["unit"] for pair in found if pair.value is not None}
    show = numbers.seconds if units == {"s"} else numbers.factor
    columns = [
        Column("environment", "MPI", header=True),
        Column("what", "cell", prose=True),
        Column("thread_level", "thread level"),
        Column("there", f"verdict, {other}", verdict=True),
        Column("here", "verdict here", verdict=True),
        Column("value_there", f"{metric}, {other}", show, measure=True),
        Column("value_here", f"{metric} here", show, measure=True),
        Column("ratio", "ratio", numbers.ratio),
        Column("inside", "inside"),
    ]
    return Table(
        f"beside_{kernel}",
        f"Cells of {kernel.replace('_', ' ')}: verdicts that differ first, then ratios outside.",
        columns,
        [_row(pair, axes_that_differ(found)) for pair in sorted(found, key=_order)],
        csv_only=(Column("cell", "cell in full"),),
        large=True,
    )
