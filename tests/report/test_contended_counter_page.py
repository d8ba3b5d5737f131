"""The page of a counter that several ranks want at once: a count, and a queue's prediction."""

from functools import partial

import pytest
from made_up import generator
from made_up.generator import MPICH, OPENMPI, Series
from shown import materials, parts

from onesided.studies.wire.contended_counter import Turns
from onesided.studies.wire.trips import turn_of

DELAYS_US = (10_000, 20_000, 40_000)
WORK_S = 1e-3
RANKS, MOST = 8, 6
CELLS = {
    "contended_counter": generator.points(
        synchronisation=("lock_exclusive", "lock_all_flush"),
        flavor="allocate",
        origins=(1, 2, MOST),
        delay_us=DELAYS_US,
    )
}


def trips_of_turn(cell):
    """An exclusive lock makes others wait; so do fetches of the second MPI."""
    alone = 3 if cell.at["synchronisation"] == "lock_exclusive" else 1
    if cell.environment.name == OPENMPI:
        alone = 3
    return max(alone, (alone - 1) * int(cell.at["origins"]))


def series(cell, further=0, late_s=0.0):
    """Yield the times of a cell.

    Args:
        cell: the cell in a launch.
        further: additional round trips for each turn of several origins.
        late_s: the delay at the end of most accesses and of all turns.
    """
    message_s = 2e-6 * float(cell.at["delay_us"]) + WORK_S
    origins = int(cell.at["origins"])
    turn_s = (trips_of_turn(cell) + further * (origins > 1)) * message_s + WORK_S
    yield Series("message", [message_s * cell.source.uniform(1.0, 1.01)] * 4, RANKS - 1)
    for rank in range(RANKS - origins, RANKS):
        # another program delays most accesses, and each turn
        yield Series("access", [turn_s, turn_s + late_s, turn_s + late_s], rank)
        yield Series("turn", [turn_s * cell.source.uniform(1.0, 1.01) + late_s], rank)


def made(folder, **changes):
    make = partial(generator.campaign, partial(series, **changes), CELLS, ranks=(RANKS,))
    return materials(make, folder)["contended_counter"]


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    return made(tmp_path_factory.mktemp("contended-counter"))


def rows_of(material):
    (table,) = parts(material, Turns)
    return {(row["environment"], row["synchronisation"], row["origins"]): row for row in table.rows}


@pytest.mark.parametrize(
    ("alone", "origins", "turn"), [(3, 1, 3), (3, 2, 4), (3, 6, 12), (1, 6, 1), (1.5, 2, 1.5)]
)
def test_a_turn_is_what_one_access_takes_or_all_hold_the_counter(alone, origins, turn):
    assert turn_of(alone, origins) == turn


def test_the_model_meets_turns_of_a_queue_and_knows_only_what_one_origin_takes(material):
    rows = rows_of(material)
    assert rows[MPICH, "lock_exclusive", MOST]["model"] == 12
    assert rows[MPICH, "lock_all_flush", MOST]["model"] == 1
    assert rows[OPENMPI, "lock_all_flush", MOST]["model"] == 12
    for (_, _, origins), row in rows.items():
        assert (row["missed"] is None) == (row["model"] is None) == (origins == 1)
        assert row["low"] <= row["counted"] <= row["high"]
        assert origins == 1 or row["missed"] < 0.05


def test_turns_that_are_longer_than_the_model_says_are_counted_as_they_are(tmp_path):
    rows = rows_of(made(tmp_path, further=4))
    row = rows[MPICH, "lock_exclusive", MOST]
    assert row["counted"] == pytest.approx(16, rel=0.05)
    assert row["missed"] == pytest.approx(0.25, abs=0.05)


def test_what_an_origin_takes_alone_is_told_by_its_least_access_with_any_number_of_ranks(tmp_path):
    def late(cell):
        return series(cell, late_s=0.02 * float(cell.at["delay_us"]) / DELAYS_US[0])

    make = partial(generator.campaign, late, CELLS, ranks=(4, RANKS), cores=16)
    rows = materials(make, tmp_path)["contended_counter"]
    (table,) = parts(rows, Turns)
    alone = [row for row in table.rows if row["origins"] == 1]
    assert [row["counted"] for row in alone] == pytest.approx([3, 1, 3, 3], rel=0.01)
    assert {row["ranks"] for row in alone} == {None}


def test_turns_of_unequal_length_are_averaged_as_rates(tmp_path):
    """Two origins: one takes a number in one second, the other in three; 4 numbers in 3 s."""

    def unequal(cell):
        message_s = 2e-6 * float(cell.at["delay_us"])
        yield Series("message", [message_s], RANKS - 1)
        for rank, turn in zip(range(RANKS - int(cell.at["origins"]), RANKS), (1, 3), strict=False):
            yield Series("access", [turn * message_s] * 2, rank)
            yield Series("turn", [turn * message_s], rank)

    make = partial(generator.campaign, unequal, CELLS, ranks=(RANKS,))
    rows = rows_of(materials(make, tmp_path)["contended_counter"])
    assert rows[MPICH, "lock_exclusive", 2]["counted"] == pytest.approx(1.5)


def test_the_answer_says_the_number_for_one_origin_and_for_most(material):
    headline = material.experiment.page.headline(material)
    assert [str(said) for said in headline.sentences] == [
        f"If {MOST} origins want numbers of a counter at once, a number takes so many round trips "
        f"with an exclusive lock: 3 alone and 12 at once under {MPICH} and {OPENMPI}.",
        f"With lock_all and flush, for one origin and for {MOST} origins: 1 alone and 1 at once "
        f"under {MPICH}; 3 alone and 12 at once under {OPENMPI}.",
    ]
    assert headline.table.rows[0]["lock_many"] == "12"
