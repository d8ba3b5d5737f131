"""The pages of memory models, ordering and window growth: tables, verdicts, the source's claims."""

from dataclasses import replace
from functools import partial

import pytest
from made_up import generator as make
from made_up import windows as made
from shown import materials, parts, words_with

from onesided.cells.verdicts import INDEPENDENT, SYNCHRONISING, WAITS
from onesided.report.by_cores import ByCores, Fold
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.parts import Folded
from onesided.studies.dinan.memory_model import Cuts
from onesided.studies.parts.today import Times
from onesided.studies.parts.waits import Waits

MPICH, IMPI = (environment.name for environment in made.ENVIRONMENTS)


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_the_table_has_every_time_and_cells_with_more_ranks_than_cores_are_apart(two_cores, kernel):
    material = two_cores[kernel]
    timed = [
        cell
        for cell in material.cells
        if cell.labels["target_state"] != "computes" and cell.environment == MPICH
    ]
    table, crowd, *_ = parts(material, Times)
    assert isinstance(crowd, Folded)
    assert len(table.rows) == len([cell for cell in timed if cell.ranks == 2])
    assert len(crowd.part.rows) == len([cell for cell in timed if cell.ranks == 4])
    factors = {environment.name: environment.factor for environment in made.ENVIRONMENTS}
    for row in table.rows:
        assert row[IMPI].value > 0.9 * factors[IMPI] * row[MPICH].value


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_the_figure_has_a_line_for_each_way_and_no_cell_without_a_core(two_cores, kernel):
    *_, figure = parts(two_cores[kernel], Times)
    ways = made.METHODS if kernel == "window_growth" else [*made.IDIOMS[kernel], "stores"]
    points = made.INTERVALS_US if kernel == "memory_model" else made.SIZES[kernel]
    assert len({row["series"] for row in figure.table.rows}) == len(ways)
    assert len(figure.table.rows) == len(ways) * len(points) * len(made.ENVIRONMENTS)


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_the_figure_says_of_how_many_ranks_it_is(two_cores, four_cores, kernel):
    for material, ranks in ((two_cores[kernel], "2 ranks"), (four_cores[kernel], "2 or 4 ranks")):
        *_, figure = parts(material, Times)
        assert figure.caption.endswith(f"With {ranks}, a core for each.")
        assert "wo ranks" not in figure.caption


def test_a_write_between_exclusive_locks_says_nothing_of_progress(two_cores):
    table, prose = parts(two_cores["memory_model"], Waits)
    own = {row["way"]: (row[MPICH], row[IMPI]) for row in table.rows if row["ranks"] == 2}
    assert own.pop("exclusive locks (separate), allocate") == (SYNCHRONISING, SYNCHRONISING)
    assert set(own.values()) == {(INDEPENDENT, WAITS)}
    assert any("needs a call of the rank that computes" in one for one in prose.sentences)


def test_an_attach_needs_nobody_and_a_re_created_window_needs_all(two_cores):
    table, _ = parts(two_cores["window_growth"], Waits)
    found = {row["way"]: row[IMPI] for row in table.rows if row["ranks"] == 2}
    attached = "attached: MPI_Win_attach (MPI-3)"
    assert found.pop(attached) == INDEPENDENT
    assert set(found.values()) == {SYNCHRONISING}


def test_claims_on_memory_models_hold_where_shared_locks_do_not_wait(two_cores, four_cores):
    assert words_with(two_cores["memory_model"], MPICH) == [
        HOLDS,
        NOT_MEASURED,
        HOLDS,
        HOLDS,
        HOLDS,
    ]
    assert words_with(two_cores["memory_model"], IMPI)[2:4] == [DOES_NOT_HOLD, DOES_NOT_HOLD]
    assert words_with(four_cores["memory_model"], MPICH)[1] == HOLDS


def test_claims_on_ordering_are_ratios_of_pairs(two_cores):
    holding = [HOLDS, HOLDS, HOLDS, HOLDS, NOT_MEASURED, NOT_MEASURED]
    assert words_with(two_cores["ordering"], MPICH) == holding
    (claims,) = parts(two_cores["ordering"], Claims)
    assert claims.rows[0][f"why_{MPICH}"].startswith("3.3")  # 10 over 3 µs


@pytest.mark.parametrize(("merged", "word"), [(0.5, HOLDS), (1.5, DOES_NOT_HOLD)])
def test_what_merged_locks_gain_is_the_ratio_of_two_settings(tmp_path, merged, word):
    first = made.ENVIRONMENTS[0]
    both = [replace(first, setting="merged_locks", factor=merged), first]
    campaign = partial(make.campaign, made.series, {"ordering": made.CREATED})
    own = materials(campaign, tmp_path, environments=both)["ordering"]
    # without merging, ordered accumulates take less than two epochs (10 over 3 µs)
    assert words_with(own, MPICH)[4:] == [word, HOLDS]


def test_claims_on_growth_need_ranks_with_a_core_each(two_cores, four_cores):
    assert words_with(two_cores["window_growth"], MPICH) == [HOLDS] * 3 + [NOT_MEASURED] * 2
    assert words_with(four_cores["window_growth"], MPICH) == [HOLDS] * 5


def test_reads_of_old_values_are_shown_where_they_are_allowed(two_cores):
    tables = parts(two_cores["ordering"], ByCores)
    (older,) = [one for one in tables if getattr(one, "name", "") == "ordering_older"]
    assert {row["idiom"] for row in older.rows} == {"unordered accumulates"}
    assert {row[MPICH].value for row in older.rows} == {made.OLDER}


def test_epochs_that_were_cut_have_a_table_and_without_any_there_is_none(two_cores, tmp_path):
    assert parts(two_cores["memory_model"], Cuts) == []
    cut = materials(made.campaign, tmp_path, cut=1.0, kernels=["memory_model"], ranks=[2])[
        "memory_model"
    ]
    (table,) = parts(cut, Cuts)
    assert {row["idiom"] for row in table.rows} == {"exclusive locks (separate)"}
    assert {row[MPICH].value for row in table.rows} == {1.0}


def test_the_parts_of_a_growth_are_folded_each_with_the_methods_that_have_it(two_cores):
    folded = {one.part.name: one.part for one in parts(two_cores["window_growth"], Fold)}
    assert len(folded) == 6
    attached = {"attached: MPI_Win_attach (MPI-3)"}
    for name in ("exchange", "detach"):
        assert {row["method"] for row in folded[f"window_growth_{name}"].rows} == attached
    assert len({row["method"] for row in folded["window_growth_make"].rows}) == 3
    assert len({row["method"] for row in folded["window_growth_close"].rows}) == 4
