"""The page of epochs: its tables, its figure, and the source's claims, each reversed by a time."""

import pytest
from made_up import epochs as made
from made_up.generator import MPICH
from shown import materials, parts

from onesided.report.by_cores import ByCores, OnCores
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.parts import Folded


def answers(folder, ranks=(2, 4), times=made.as_claimed):
    """Return the outcome of each claim, by its words."""
    found = materials(made.campaign, folder, ranks=ranks, cores=8, rounds=2, times=times)
    (table,) = parts(found["epochs"], Claims)
    return {row["claim"]: row[MPICH] for row in table.rows}


def word(found, words):
    (own,) = (word for claim, word in found.items() if words in claim)
    return own


@pytest.fixture(scope="module")
def claimed(tmp_path_factory):
    return answers(tmp_path_factory.mktemp("claimed"))


def test_times_that_bear_the_source_out_make_each_claim_hold(claimed):
    assert len(claimed) == 6
    assert set(claimed.values()) == {HOLDS}


@pytest.mark.parametrize(
    ("words", "changed", "factor"),
    [
        ("asks no rank for a lock", {"epoch": "lock_all", "targets": "0"}, 100),
        ("with the first access to it", {"epoch": "lock_all", "targets": "1"}, 100),
        ("it takes as long as a wait for all 64", {"epoch": "wait_for_first"}, 0.1),
        ("MPI_Rget_accumulate", {"epoch": "wait_for_first", "operation": "get_accumulate"}, 0.1),
        ("of one element", {"operation": "fetch_and_op", "operations": "1"}, 10),
        ("64 operations before one flush", {"operation": "fetch_and_op", "operations": "64"}, 10),
    ],
)
def test_a_changed_time_turns_the_answer(tmp_path, words, changed, factor):
    def times(ranks, at):
        is_meant = changed.items() <= at.items()
        return made.as_claimed(ranks, at) * (factor if is_meant else 1)

    assert word(answers(tmp_path, times=times), words) == DOES_NOT_HOLD


def test_with_two_ranks_three_cannot_be_accessed(tmp_path):
    found = answers(tmp_path, ranks=(2,))
    assert word(found, "with the first access to it") == NOT_MEASURED
    assert word(found, "asks no rank for a lock") == HOLDS


def test_each_table_has_its_cells_and_those_without_cores_are_folded(two_cores):
    tables = parts(two_cores["epochs"], ByCores)
    shown = [one for one in tables if not isinstance(one, Folded)]
    names = {"epochs_targets": 6, "epochs_operations": 6 + 3, "epochs_waits": 16}
    assert {one.name: len(one.rows) for one in shown} == names
    assert len(tables) == 2 * len(shown)


def test_the_figure_has_a_line_for_each_epoch_by_the_ranks_accessed(four_cores):
    (figure,) = parts(four_cores["epochs"], OnCores)
    assert {row["label"] for row in figure.table.rows} == {"0", "1", "2", "3"}
    assert len({row["series"] for row in figure.table.rows}) >= len(made.LOCKS)
