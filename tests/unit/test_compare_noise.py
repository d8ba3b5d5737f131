"""Claims about what `onesided compare` calls a difference, on the noise of real campaigns.

data/launch_spreads_1.json holds launches of five campaigns of the same three MPIs on one machine,
hours apart, between which nothing was changed; data/launch_spreads_2.json those of five on a
machine whose cores others used, over two days. launch_spreads.py makes such files. Two sets are
drawn from their rounds, whole rounds at a time, since the cells of a round have much in common.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from pathlib import Path

import pytest

from onesided.compare import weigh
from onesided.compare.reproducibility import Pair

DATA = Path(__file__).parents[1] / "data"
TEN_PERCENT = math.log(1.1)
QUIET = 0.03
#: That of the machine whose cores others used comes with the slow tests.
NOISE = [
    "launch_spreads_1.json",
    pytest.param("launch_spreads_2.json", marks=pytest.mark.slow),
]


def spreads_of(name):
    return json.loads((DATA / name).read_text("utf-8"))["cells"]


@pytest.fixture(scope="module")
def spreads():
    return spreads_of("launch_spreads_1.json")


def drawn(spreads, source, launches, shifts=lambda place, environment: 0.0):
    """Return two sets of launches of all cells; the second is shifted as asked."""
    rounds = source.sample(range(len(spreads[0][2])), 2 * launches)
    timed = []
    for place, (environment, kernel, values) in enumerate(spreads):
        sides = [
            {turn: values[turn] for turn in half if values[turn] is not None}
            for half in (rounds[:launches], rounds[launches:])
        ]
        if not all(sides):
            continue
        cell = {
            "system": "s",
            "partition": "p",
            "environment": str(environment),
            "setting": "default",
            "kernel": kernel,
            "place": place,
        }
        shift = shifts(place, environment)
        second = {turn: value + shift for turn, value in sides[1].items()}
        timed.append((Pair(cell, cell, None, None), sides[0], second))
    return timed


def called(timed):
    """Return the environments, and the cells, that are called different."""
    cells, wholes = weigh.weigh(timed)
    return (
        {
            (w.environment, w.kernel, w.difference.word)
            for w in wholes
            if w.difference.is_significant
        },
        {
            (pair.cell["place"], difference.word)
            for (pair, *_), difference in zip(timed, cells, strict=True)
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


@pytest.mark.parametrize("environment", [0, 1, 2])
@pytest.mark.parametrize(("shift", "word"), [(TEN_PERCENT, "slower"), (-TEN_PERCENT, "faster")])
def test_ten_percent_of_an_environment_is_found_at_six_launches(spreads, environment, shift, word):
    source = random.Random(environment)
    found = others = 0
    for _ in range(40):
        wholes, _ = called(
            drawn(spreads, source, 6, lambda _, at: shift if at == environment else 0.0)
        )
        found += (str(environment), weigh.EVERYTHING, word) in wholes
        others += any(name != str(environment) for name, *_ in wholes)
    assert found >= 38
    assert others <= 2


def test_ten_percent_of_a_single_quiet_cell_is_found_at_ten_launches(spreads):
    """A third of all cells is as quiet as that; docs/methods.md says what is found of others."""
    spread = [statistics.stdev([v for v in row[2] if v is not None]) for row in spreads]
    quiet = [place for place, value in enumerate(spread) if value <= QUIET]
    assert len(quiet) > len(spreads) / 4
    source = random.Random(10)
    found = tries = 0
    for _ in range(60):
        shifted = source.choice(quiet)
        timed = drawn(spreads, source, 10, lambda at, _, s=shifted: TEN_PERCENT * (at == s))
        if all(
            min(map(len, sides)) >= weigh.CELL_LAUNCHES
            for pair, *sides in timed
            if pair.cell["place"] == shifted
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
        cells, _ = weigh.weigh(timed)
        sensitive = [
            pair.cell["place"]
            for (pair, *_), of in zip(timed, cells, strict=True)
            if of.detectable is not None and of.detectable <= weigh.ASKED_FACTOR
        ]
        assert sensitive
        shifted = source.choice(sensitive)
        again = drawn(spreads, source, 10, lambda at, _, s=shifted: TEN_PERCENT * (at == s))
        of = {p.cell["place"]: d for (p, *_), d in zip(again, weigh.weigh(again)[0], strict=True)}
        if shifted in of and of[shifted].word != weigh.NOT_TESTED:
            tries += 1
            found += of[shifted].word == weigh.SLOWER
    assert tries >= 15
    assert found >= 0.85 * tries


def test_a_single_cell_is_not_judged_by_six_launches(spreads):
    timed = drawn(spreads, random.Random(1), 6, lambda at, _: math.log(3) * (at == 7))
    cells, _ = weigh.weigh(timed)
    assert {difference.word for difference in cells} == {weigh.NOT_TESTED}


def test_a_shift_below_five_percent_is_no_difference_however_sure_it_is():
    cell = {
        "system": "s",
        "partition": "p",
        "environment": "e",
        "setting": "default",
        "kernel": "k",
    }
    pair = Pair(cell, cell, None, None)
    first = {turn: 1e-4 * turn for turn in range(10)}
    for factor, word in ((1.04, "~"), (1.06, "slower"), (1 / 1.04, "~"), (1 / 1.06, "faster")):
        second = {turn: value + math.log(factor) for turn, value in first.items()}
        (one,), (whole,) = weigh.weigh([(pair, first, second)])
        assert one.p < 1e-6 and whole.difference.p < 1e-6
        assert (one.word, whole.difference.word) == (word, word)
        assert one.ratio == pytest.approx(factor)
        assert one.low < factor < one.high


def test_what_the_cells_of_a_launch_share_counts_once():
    cell = {
        "system": "s",
        "partition": "p",
        "environment": "e",
        "setting": "default",
        "kernel": "k",
    }
    shared = [0.3, -0.2, 0.1, 0.25, -0.3, 0.0]
    first = dict(enumerate(shared))
    second = {turn: value + 0.12 for turn, value in enumerate(reversed(shared))}
    pairs = [(Pair({**cell, "place": n}, cell, None, None), first, second) for n in range(50)]
    _, (whole,) = weigh.weigh(pairs)
    _, (alone,) = weigh.weigh(pairs[:1])
    assert whole.difference.p == pytest.approx(alone.difference.p)
    assert whole.difference.word == "~"


def test_a_round_without_its_slow_cells_is_not_faster_for_that():
    cell = {
        "system": "s",
        "partition": "p",
        "environment": "e",
        "setting": "default",
        "kernel": "k",
    }
    pair = Pair(cell, cell, None, None)
    noise = dict(enumerate([0.01, -0.01, 0.02, 0.0, -0.02, 0.005]))
    slow = {turn: value + 3 for turn, value in noise.items()}
    _, (whole,) = weigh.weigh(
        [(pair, noise, noise), (pair, slow, {turn: slow[turn] for turn in (0, 1, 2)})]
    )
    assert whole.difference.ratio == pytest.approx(1, abs=0.02)
    assert whole.difference.word == "~"


def test_rounds_that_only_a_few_cells_have_do_not_speak_for_an_environment(spreads):
    """A campaign with further rounds has such: its cells that spread most."""
    timed = drawn(spreads, random.Random(1), 6)
    more = [
        (pair, first, {**second, **dict.fromkeys(range(100, 106), 0.5)} if at < 3 else second)
        for at, (pair, first, second) in enumerate(timed)
    ]
    sides = [weigh._whole_sides(one) for one in (timed, more)]
    assert [list(map(len, pair)) for pair in sides] == [[6, 6], [6, 6]]
    assert called(timed)[0] == called(more)[0] == set()
