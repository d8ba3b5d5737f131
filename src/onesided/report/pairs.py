"""Tables that compare cells of two sides, for example of two campaigns, and pages with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.cells.verdicts import BETTER, OPEN, WORSE
from onesided.compare.differences import Difference
from onesided.compare.pair import Comparison, Overall, Pair
from onesided.measure.statistics import INTERVAL, MINIMUM_COVERAGE
from onesided.report import numbers
from onesided.report.document import INDEX, document, files_of, write_files
from onesided.report.parts import Column, Measure, Section, Table
from onesided.system import writing

SHORT = 12
"""A table of cells is shown in full if it has at most this many rows."""

_KEPT = (
    "system",
    "partition",
    "kernel",
    "setting",
    "thread_level",
    "ranks",
    "placement",
    "test",
    "cell",
)
"""The fields that a table row takes from the entry of the first cell of a pair."""

_KNOWN = {
    column.key: column
    for column in (
        Column("environment", "MPI", header=True),
        Column("what", "cell", prose=True),
        Column("setting", "setting"),
        Column("thread_level", "thread level"),
        Column("turn", "is"),
        Column("where", "where"),
        Column(WORSE, "verdicts worse", str),
        Column(BETTER, "better", str),
        Column(OPEN, "cannot be told", str),
        Column("cells", "cells timed", str),
        Column("ratio", "ratio", numbers.ratio, measure=True),
        Column("difference", "difference"),
        Column("detectable", "found from", numbers.ratio),
        Column("p", "p, corrected", numbers.ratio),
        Column("oversubscribed", "over-subscribed"),
    )
}


def columns(*wanted: str | Column) -> list[Column]:
    """Return table columns: a key gets its usual title, and a `Column` stays as it is."""
    return [
        _KNOWN.get(one, Column(one, one.replace("_", " "))) if isinstance(one, str) else one
        for one in wanted
    ]


def measure_of_difference(difference: Difference) -> Measure:
    """Return the ratio of the second value to the first, with its interval, as tables show it."""
    low, high = (
        difference.ratio if end is None else end for end in (difference.low, difference.high)
    )
    # a ratio without an interval is shown alone
    launches = difference.launches if difference.low is not None else 1
    return Measure(difference.ratio, low, high, MINIMUM_COVERAGE, INTERVAL, launches)


def axes_that_differ(found: Sequence[Pair]) -> list[str]:
    """Return those axes on which the given cells differ."""
    axes = list(dict.fromkeys(axis for pair in found for axis in pair.first["labels"]))
    return [axis for axis in axes if len({pair.first["labels"].get(axis) for pair in found}) > 1]


def cell_words(pair: Pair, axes: Sequence[str]) -> str:
    """Return the values of a cell on some axes as text."""
    labels = pair.first["labels"]
    return ", ".join(str(labels[axis]) for axis in axes if axis in labels)


@dataclass(frozen=True)
class Sides:
    """The keys and titles of the two sides of a comparison, in a table of cells.

    Attributes:
        first: the key of the first side's verdict. The key of the first side's value is the same
            with ``value_`` before it.
        second: the key of the second side's verdict, and the end of the key of its value.
        titles: for each side, the words that follow ``verdict`` and the metric's name in titles.
        note: the key of the text below the second side's verdict; None if there is no such text.
    """

    first: str
    second: str
    titles: tuple[str, str]
    note: str | None = None

    @property
    def verdicts(self) -> list[Column]:
        """Return the table columns with the first and the second verdict of each cell."""
        first, second = self.titles
        return [
            Column(self.first, f"verdict{first}", verdict=True),
            Column(self.second, f"verdict{second}", verdict=True, note=self.note),
        ]

    def values(self, found: Sequence[Pair], metric: str) -> list[Column]:
        """Return the table columns with both values of each cell; all values are of one metric."""
        units = {pair.value_first["unit"] for pair in found if pair.value_first is not None}
        show = numbers.seconds if units == {"s"} else numbers.factor
        return [
            Column(f"value_{key}", f"{metric}{title}", show, measure=True)
            for key, title in zip((self.first, self.second), self.titles, strict=True)
        ]

    def row(self, pair: Pair, axes: Sequence[str]) -> dict[str, Any]:
        """Return the table row that compares a cell, named by its values on the given axes."""
        return {
            **{name: pair.first[name] for name in _KEPT},
            "environment": pair.environment,
            "what": cell_words(pair, axes),
            self.first: pair.first["verdict"],
            self.second: pair.second["verdict"],
            "turn": pair.change,
            "oversubscribed": pair.is_crowded,
            f"value_{self.first}": pair.value_first and Measure.of(pair.value_first),
            f"value_{self.second}": pair.value_second and Measure.of(pair.value_second),
            **_difference_row(pair.difference),
        }


def _difference_row(difference: Difference | None) -> dict[str, Any]:
    if difference is None:
        return {}
    return {
        "ratio": measure_of_difference(difference),
        "difference": difference.word,
        "detectable": difference.detectable,
        "p": difference.p,
    }


def overall_row(comparison: Comparison, overall: Overall) -> dict[str, Any]:
    """Return the table row that compares an environment, with its number of changed verdicts."""
    changes = [pair.change for pair in comparison.pairs if overall.has(pair)]
    return {
        "environment": overall.name,
        "where": f"{overall.system}:{overall.partition}",
        "setting": overall.setting,
        "kernel": overall.kernel.replace("_", " "),
        **{kind: changes.count(kind) for kind in (WORSE, BETTER, OPEN)},
        "cells": overall.cells,
        **_difference_row(overall.difference),
    }


def write_page(
    folder: Path,
    prefix: str,
    *,
    kicker: str,
    heading: str,
    sentences: Sequence[str],
    sections: Sequence[Section],
    others: Sequence[Table] = (),
) -> Path:
    """Write a page and its CSV files; return the path of the page. The page is written last.

    The names of the page's CSVs begin with `prefix`; CSVs of an earlier page that this page does
    not have are removed. `kicker` has the words above the heading, which name the subject of the
    page. `heading` is the question that the page answers, and `sentences` are the answer. The
    tables `others` are only written as CSV.

    Raises:
        OnesidedError: a file cannot be written.
    """
    html = document(
        "compare.html.j2", kicker=kicker, heading=heading, sentences=sentences, sections=sections
    )
    files = files_of(sections, others)
    write_files(folder, files)
    for path in folder.glob(f"{prefix}_*.csv"):
        if path.name not in files:
            path.unlink()
    writing.write_text(folder / INDEX, html)
    return folder / INDEX
