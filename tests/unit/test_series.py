"""A figure of a metric over an axis: nothing is pooled, failures are words, the source is apart."""

import csv
import io
import json

import pytest
from test_pivot import cell, material

from onesided.cells import verdicts
from onesided.report.pivot import Axis
from onesided.report.published import PublishedSeries
from onesided.report.series import SeriesFigure
from onesided.system.errors import InputError

FIGURE = SeriesFigure(
    name="times",
    title="Times",
    caption="Median with its {}.",
    metric="time",
    x=Axis("bytes", "bytes", {"8": "eight"}, whole=True),
    y="time",
)


class Table:
    """A source's table: two sizes, one without a number."""

    caption = "Published."
    path = "table.csv"
    rows = ({"x": "8", "y": "1.5"}, {"x": "16", "y": "N/A"})

    def unit(self, column):
        return {"x": "bytes", "y": "ms"}[column]

    def title(self, column):
        return {"x": "bytes", "y": "Their machine"}[column]

    def number(self, row, column):
        factor = 1 if column == "x" else 1e-3
        return None if row[column] == "N/A" else float(row[column]) * factor


def drawn(figure):
    """Return a figure's points, panel by panel, by the names of its series."""
    found = {}
    specification = json.loads(figure.specification)
    for panel in specification["concat"]:
        (data,) = {layer["data"]["name"] for layer in panel["layer"]}
        for point in specification["datasets"][data]:
            found.setdefault((panel.get("title"), point["series"]), []).append(point["value"])
    return found


def sized(size, **more):
    made = cell(**more)
    made.entry["labels"]["bytes"] = size
    return made


def test_each_environment_has_a_panel_and_what_differs_is_a_series_of_its_own():
    cells = [
        sized("8"), sized("16"), sized("8", what="b"), sized("16", what="b"),
        sized("8", environment="two"),
    ]  # fmt: skip
    (figure,) = FIGURE.parts(material(*cells))
    assert drawn(figure) == {("one", "a"): [1, 2], ("one", "b"): [3, 4], ("two", "a"): [5]}


@pytest.mark.parametrize(
    "other", [{"ranks": 4}, {"setting": "tcp"}, {"level": "multiple"}, {"placement": "spread"}]
)
def test_cells_run_in_another_way_are_never_one_series(other):
    (figure,) = FIGURE.parts(material(sized("8"), sized("8", **other)))
    names = [name for _, name in drawn(figure)]
    assert len(set(names)) == 2
    assert str(next(iter(other.values()))) in names[1]


def test_a_failed_cell_is_in_the_table_with_its_word_and_not_drawn():
    cells = [sized("8"), sized("16", verdict=verdicts.CRASH)]
    (figure,) = FIGURE.parts(material(*cells))
    rows = list(csv.DictReader(io.StringIO(figure.table.csv_text())))
    assert [row["shown_s"] for row in rows] == ["1", verdicts.CRASH]
    assert [row["bytes"] for row in rows] == ["8", "16"]
    assert [str(row["bytes"]) for row in figure.table.rows] == ["eight", "16"]
    assert drawn(figure) == {("one", ""): [1]}
    assert FIGURE.parts(material(sized("8", verdict=verdicts.CRASH))) == []


def test_it_can_be_limited_to_some_cells():
    limited = SeriesFigure(**{**vars(FIGURE), "only": {"what": "b"}})
    (figure,) = limited.parts(material(sized("8"), sized("8", what="b")))
    assert drawn(figure) == {("one", ""): [2]}


def test_what_a_source_has_is_a_figure_of_its_own_in_its_own_words():
    series = PublishedSeries(Table(), "x", ["y"])
    both = SeriesFigure(**{**vars(FIGURE), "published": series})
    published, measured = both.parts(material(sized("8")))
    assert (published.name, measured.name) == ("times_published", "times_measured")
    assert drawn(published) == {(None, "Their machine"): [pytest.approx(0.0015)]}
    assert "Published." in published.caption
    assert ">N/A<" in str(published.table.columns[-1].html(published.table.rows[1])) or (
        published.table.rows[1]["shown"] == "N/A"
    )


def test_a_source_with_other_units_is_refused():
    wrong = SeriesFigure(
        **{**vars(FIGURE), "unit": "1/s", "published": PublishedSeries(Table(), "x", ["y"])}
    )
    with pytest.raises(InputError, match="y: found s; expected numbers in 1/s"):
        wrong.parts(material(sized("8")))
