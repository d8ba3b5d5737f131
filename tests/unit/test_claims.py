"""A claim holds, does not hold, or is open; which of them depends on the intervals alone."""

from types import SimpleNamespace

import pytest
from test_pivot import cell

from onesided.report import numbers
from onesided.report.claims import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, AtLeast, Claim, Claims
from onesided.report.parts import Measure

TEN_TIMES = AtLeast("time", over={"what": "b"}, under={"what": "a"}, factor=10)


def material(above, below=(1.0, 0.9, 1.1)):
    """Two cells with these values and intervals; None where there is no value."""
    values = {"a": below, "b": above}
    cells = [cell(what=what) for what in values]

    def measure(one, metric, statistic):
        found = values[one.labels["what"]]
        return found and Measure(*found, 0.95, "interval", 6)

    return SimpleNamespace(cells=cells, environments=["one"], interval_words="", measure=measure)


@pytest.mark.parametrize(
    ("above", "word"),
    [
        ((20.0, 18.0, 22.0), HOLDS),
        ((5.0, 4.0, 6.0), DOES_NOT_HOLD),
        ((10.5, 10.0, 12.0), OPEN),  # the median is above, the interval is not
        ((9.5, 7.0, 12.0), OPEN),
        (None, NOT_MEASURED),
    ],
)
def test_a_claim_is_decided_by_the_intervals(above, word):
    assert TEN_TIMES(material(above), "one").word == word


def test_the_numbers_stand_beside_the_word():
    (table,) = Claims("claims", [Claim("Table I", "It is slower.", TEN_TIMES)]).parts(
        material((20.0, 18.0, 22.0))
    )
    (row,) = table.rows
    claim, found = (str(column.html(row)) for column in table.columns)
    assert "It is slower." in claim
    assert "Table I" in claim
    assert found.startswith(HOLDS)
    shown = [numbers.factor(value) for value in (20, 18 / 1.1, 22 / 0.9)]
    assert f"{shown[0]}, {shown[1]} {numbers.DASH} {shown[2]}" in found
    assert "Table I" in table.csv_text()
