"""A claim holds, does not hold, or is open; which of them depends on the intervals alone."""

from types import SimpleNamespace

import pytest
from test_pivot import cell

from onesided.campaign.tables import PLACE
from onesided.report import numbers
from onesided.report.claims import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, AtLeast, Claim, Claims
from onesided.report.material import Cell
from onesided.report.parts import Measure

TEN_TIMES = AtLeast("time", over={"what": "b"}, under={"what": "a"}, factor=10)


def material(above, below=(1.0, 0.9, 1.1), rounds=None):
    """Two cells with these values and intervals; None where there is no value.

    `rounds` has both values of each round, where they are told apart.
    """
    values = {"a": below, "b": above}
    cells = [Cell({**dict.fromkeys(PLACE, what), **cell(what=what).entry}) for what in values]
    by_round = {
        (*one.place, "time", "median"): {turn: pair[at] for turn, pair in enumerate(rounds or ())}
        for at, one in enumerate(reversed(cells))
    }

    def measure(one, metric, statistic):
        found = values[one.labels["what"]]
        return found and Measure(*found, 0.95, "interval", 6)

    return SimpleNamespace(
        cells=cells, environments=["one"], interval_words="", measure=measure, by_round=by_round
    )


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


def test_a_swing_that_both_values_share_leaves_no_claim_open():
    wide = (10.5, 5.0, 22.0), (1.0, 0.5, 2.0)
    swinging = [(11 * swing, swing) for swing in (0.5, 2, 1, 0.7, 1.4, 1.1)]
    assert TEN_TIMES(material(*wide), "one").word == OPEN
    assert TEN_TIMES(material(*wide, rounds=swinging), "one").word == HOLDS


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
