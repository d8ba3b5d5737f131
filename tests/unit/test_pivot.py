"""A table that is data: its rows, its columns, and its column `where`."""

import csv
import io
from types import SimpleNamespace

import pytest

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.parts import Measure
from onesided.report.pivot import Axis, Pivot

PIVOT = Pivot(
    name="times",
    caption="Time, median with its {}.",
    metric="time",
    axes=[Axis("what", "what", {"a": "the first"}), Axis("bytes", "bytes", whole=True)],
)


def cell(environment="one", verdict=verdicts.REFERENCE, level="single", **more):
    labels = {"what": more.pop("what", "a"), "bytes": "8"}
    return Cell(
        {"system": "laptop", "partition": "node", "setting": "default", "ranks": 2,
         "placement": "unbound", "launch_model": "native", "thread_level": level,
         "oversubscribed": False,
         "environment": environment, "verdict": verdict, "labels": labels, **more}
    )  # fmt: skip


def material(*cells):
    """Cells whose time is their number, from 1."""
    values = {
        id(one): Measure(number, number, number, 0.95, "median", 6)
        for number, one in enumerate(cells, 1)
    }
    return SimpleNamespace(
        cells=cells,
        environments=list(dict.fromkeys(one.environment for one in cells)),
        interval_words="interval",
        measure=lambda one, metric, statistic: values[id(one)],
    )


def rows(*cells):
    text = PIVOT.table(material(*cells)).csv_text()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_is_a_point_and_a_column_an_environment():
    first, second = rows(cell(), cell("two"), cell(what="b"), cell("two", what="b"))
    assert (first["what"], first["bytes"]) == ("the first", "8")
    assert [float(first[f"{name}_s"]) for name in ("one", "two")] == [1.0, 2.0]
    assert second["what"] == "b"
    table = PIVOT.table(material(cell()))
    assert [column.title for column in table.columns] == ["what", "bytes", "one"]
    assert table.caption == "Time, median with its interval."


def test_an_axis_without_meaning_has_a_dash():
    collective = cell()
    collective.entry["labels"]["bytes"] = "none"
    assert rows(collective)[0]["bytes"] == numbers.DASH


def test_a_cell_that_failed_has_the_word_and_no_number():
    (row,) = rows(cell(), cell("two", verdict=verdicts.CRASH))
    assert row["two_s"] == verdicts.CRASH


@pytest.mark.parametrize(
    "other", [{"partition": "network"}, {"ranks": 4}, {"setting": "tcp"}, {"level": "multiple"}]
)
def test_what_was_run_in_several_ways_has_a_row_for_each_and_says_which(other):
    table = PIVOT.table(material(cell(), cell(**other)))
    assert [column.key for column in table.columns][-1] == "where"
    one, another = (row["where"] for row in table.rows)
    assert one != another
    assert str(next(iter(other.values()))) in another


def test_cells_with_more_threads_than_cores_are_kept_apart_and_say_so():
    table = PIVOT.table(material(cell(), cell(ranks=4, oversubscribed=True)))
    plain, crowded = (row["where"] for row in table.rows)
    assert "more threads than cores" in crowded
    assert "more threads than cores" not in plain


def test_one_way_is_told_in_the_csv_alone():
    table = PIVOT.table(material(cell(), cell("two")))
    assert "where" not in [column.key for column in table.columns]
    assert rows(cell())[0]["where"] == "laptop:node, default, 2 ranks, unbound, native"


def test_a_page_of_references_is_one_section_and_no_answer():
    page = ReferencePage("baseline", "Baseline", "What it is for.", [PIVOT])
    (section,) = page.sections(material(cell()))
    assert [table.name for table in section.parts] == ["times"]
    assert page.headline(None) is None
    assert page.terminal_lines(None) == []


def test_a_failure_after_the_last_cell_keeps_the_number_and_says_so():
    table = PIVOT.table(material(cell(verdict=verdicts.TEARDOWN_FAILURE)))
    (row,) = table.rows
    assert (row["one"].value, row["one"].remark) == (1, verdicts.TEARDOWN_FAILURE)
    assert "teardown failure" in str(table.columns[-1].html(row))
