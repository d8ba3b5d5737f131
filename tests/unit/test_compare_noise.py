"""Claims about the differences that `onesided compare` reports, on the noise of real campaigns.

data/launch_spreads_1.json has launches of five campaigns of the same three MPIs on one machine,
hours apart and without changes. data/launch_spreads_2.json has launches of five campaigns over two
days, on a machine whose cores others used. launch_spreads.py makes such files. Two sets of launches
are drawn from the rounds of a file. Whole rounds are drawn, because the cells of a round have much
in common.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from pathlib import Path

import pytest

from onesided.compare import differences, pair
from onesided.compare.pair import Pair, Timed

DATA = Path(__file__).parents[1] / "data"
TEN_PERCENT = math.log(1.1)
QUIET = 0.03
#: The file of the machine whose cores others used is only in slow tests.
NOISE = [
    "launch_spreads_1.json",
    pytest.param("launch_spreads_2.json", marks=pytest.mark.slow),
]


def spreads_of(name):
    return json.loads((DATA / name).read_text("utf-8"))["cells"]


@pytest.fixture(scope="module")
def spreads():
    return spreads_of("launch_spreads_1.json")


CELL = {
    "system": "s",
    "partition": "p",
    "environment": "e",
    "setting": "default",
    "kernel": "k",
}
SAME_CELL = Pair(CELL, CELL)


def drawn(spreads, source, launches, shifts=lambda place, environment: 0.0):
    """Return two sets of launches of all cells; the second set is shifted."""
    rounds = source.sample(range(len(spreads[0][2])), 2 * launches)
    timed = []
    for place, (environment, kernel, values) in enumerate(spreads):
        sides = [
            {turn: values[turn] for turn in half if values[turn] is not None}
            for half in (rounds[:launches], rounds[launches:])
        ]
        if not all(sides):
            continue
        cell = {**CELL, "environment": str(environment), "kernel": kernel, "place": place}
        shift = shifts(place, environment)
        second = {turn: value + shift for turn, value in sides[1].items()}
        timed.append(Timed(Pair(cell, cell), sides[0], second))
    return timed


def called(timed):
    """Return the environments, and the cells, that are reported as different."""
    return (
        {
            (w.environment, w.kernel, w.difference.word)
            for w in pair.overall(timed)
            if w.difference.is_significant
        },
        {
            (one.pair.first["place"], difference.word)
            for one, difference in zip(timed, pair.cell_differences(timed), strict=True)
            if difference.is_significant
        },
    )


@pytest.mark.parametrize("launches", [6, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NOISE)
def test_with_nothing_changed_at_least_95_of_100_comparisons_show_nothing(name, launches):
    spreads = spreads_of(name)
    source = random.Random(launches)
    quiet = sum(called(drawn(spreads, source, launches)) == (set(), set()) for _ in range(100))
    assert quiet >= 95


@pytest.mark.one_case
@pytest.mark.parametrize("environment", [0, 1, 2])
@pytest.mark.parametrize(("shift", "word"), [(TEN_PERCENT, "slower"), (-TEN_PERCENT, "faster")])
def test_ten_percent_of_an_environment_is_found_at_six_launches(spreads, environment, shift, word):
    source = random.Random(environment)
    found = others = 0
    for _ in range(40):
        wholes, _ = called(
            drawn(spreads, source, 6, lambda _, at: shift if at == environment else 0.0)
        )
        found += (str(environment), pair.EVERYTHING, word) in wholes
        others += any(name != str(environment) for name, *_ in wholes)
    assert found >= 38
    assert others <= 2


def test_ten_percent_of_a_single_quiet_cell_is_found_at_ten_launches(spreads):
    """A third of all cells is this quiet; docs/methods.md has the results of other cells."""
    spread = [statistics.stdev([v for v in row[2] if v is not None]) for row in spreads]
    quiet = [place for place, value in enumerate(spread) if value <= QUIET]
    assert len(quiet) > len(spreads) / 4
    source = random.Random(10)
    found = tries = 0
    for _ in range(60):
        shifted = source.choice(quiet)
        timed = drawn(spreads, source, 10, lambda at, _, s=shifted: TEN_PERCENT * (at == s))
        if all(
            min(map(len, sides)) >= differences.CELL_LAUNCHES
            for cell, *sides in timed
            if cell.first["place"] == shifted
        ):
            tries += 1
            found += (shifted, "slower") in called(timed)[1]
    assert tries >= 40
    assert found >= 0.95 * tries


@pytest.mark.parametrize("name", NOISE)
def test_what_a_comparison_says_it_would_find_the_next_one_finds(name):
    spreads, source = spreads_of(name), random.Random(11)
    found = tries = 0
    for _ in range(20):
        timed = drawn(spreads, source, 10)
        sensitive = [
            one.pair.first["place"]
            for one, of in zip(timed, pair.cell_differences(timed), strict=True)
            if of.detectable is not None and of.detectable <= differences.ASKED_FACTOR
        ]
        assert sensitive
        shifted = source.choice(sensitive)
        again = drawn(spreads, source, 10, lambda at, _, s=shifted: TEN_PERCENT * (at == s))
        judged = zip(again, pair.cell_differences(again), strict=True)
        of = {one.pair.first["place"]: difference for one, difference in judged}
        if shifted in of and of[shifted].word != differences.NOT_TESTED:
            tries += 1
            found += of[shifted].word == differences.SLOWER
    assert tries >= 15
    assert found >= 0.85 * tries


def test_a_single_cell_is_not_judged_by_six_launches(spreads):
    timed = drawn(spreads, random.Random(1), 6, lambda at, _: math.log(3) * (at == 7))
    words = {difference.word for difference in pair.cell_differences(timed)}
    assert words == {differences.NOT_TESTED}


def test_a_shift_below_five_percent_is_no_difference_however_sure_it_is():
    first = {turn: 1e-4 * turn for turn in range(10)}
    for factor, word in ((1.04, "~"), (1.06, "slower"), (1 / 1.04, "~"), (1 / 1.06, "faster")):
        second = {turn: value + math.log(factor) for turn, value in first.items()}
        timed = [Timed(SAME_CELL, first, second)]
        (one,), (whole,) = pair.cell_differences(timed), pair.overall(timed)
        assert one.p < 1e-6 and whole.difference.p < 1e-6
        assert (one.word, whole.difference.word) == (word, word)
        assert one.ratio == pytest.approx(factor)
        assert one.low < factor < one.high


def test_what_the_cells_of_a_launch_share_counts_once():
    shared = [0.3, -0.2, 0.1, 0.25, -0.3, 0.0]
    first = dict(enumerate(shared))
    second = {turn: value + 0.12 for turn, value in enumerate(reversed(shared))}
    timed = [Timed(Pair({**CELL, "place": n}, CELL), first, second) for n in range(50)]
    (whole,), (alone,) = pair.overall(timed), pair.overall(timed[:1])
    assert whole.difference.p == pytest.approx(alone.difference.p)
    assert whole.difference.word == "~"


def test_a_round_without_its_slow_cells_is_not_faster_for_that():
    noise = dict(enumerate([0.01, -0.01, 0.02, 0.0, -0.02, 0.005]))
    slow = {turn: value + 3 for turn, value in noise.items()}
    quickest = Timed(SAME_CELL, noise, noise)
    slowest = Timed(SAME_CELL, slow, {turn: slow[turn] for turn in (0, 1, 2)})
    (whole,) = pair.overall([quickest, slowest])
    assert whole.difference.ratio == pytest.approx(1, abs=0.02)
    assert whole.difference.word == "~"


def test_rounds_that_only_a_few_cells_have_do_not_speak_for_an_environment(spreads):
    """Cells of a campaign with further rounds have such rounds, and these cells spread most."""
    timed = drawn(spreads, random.Random(1), 6)
    more = [
        one._replace(second={**one.second, **dict.fromkeys(range(100, 106), 0.5)})
        if at < 3
        else one
        for at, one in enumerate(timed)
    ]
    for cells in (timed, more):
        assert list(map(len, differences.together([one[1:] for one in cells]))) == [6, 6]
    assert called(timed)[0] == called(more)[0] == set()
