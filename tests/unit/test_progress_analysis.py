"""Claims about the analysis of the series that the kernel progress writes."""

from __future__ import annotations

import polars as pl
import pytest
from made_up.accesses import (
    DELTA_S,
    LABELS,
    LAUNCHES,
    LENGTHS_S,
    accesses,
    behaviours,
    judged,
    values,
)

from onesided.cells import verdicts
from onesided.measure import judging
from onesided.measure.cell_verdicts import launch_probes
from onesided.studies.stfc.progress import analysis as progress


@pytest.mark.parametrize("word", behaviours())
def test_known_behaviour_gets_its_word(word):
    lengths = (10e-3, 30e-3) if word == verdicts.DELAYED else LENGTHS_S
    assert judged(accesses(behaviours()[word], lengths=lengths)).word == word


@pytest.mark.parametrize("word", [verdicts.INDEPENDENT, verdicts.WAITS])
def test_a_noisy_machine_that_stretches_computes_changes_no_word(word):
    assert judged(accesses(behaviours()[word], noise=1.5)).word == word


def test_one_spoilt_launch_is_allowed_and_two_are_not():
    independent = behaviours()[verdicts.INDEPENDENT]
    assert judged(accesses(independent, spoilt=1)).word == verdicts.INDEPENDENT
    two = judged(accesses(independent, spoilt=2))
    assert two.word == verdicts.UNDECIDED
    assert two.detail.startswith("4 of 6 launches valid, 5 needed")


def test_an_access_issued_with_less_than_a_millisecond_left_plays_no_part():
    found = progress.evidence(accesses(behaviours()[verdicts.WAITS]))
    assert found.filter("valid")["remaining"].min() >= judging.MINIMUM_REMAINING_S
    assert found.filter("valid").height == LAUNCHES * 2 * 5  # of 3 and 10 ms
    assert found.height == LAUNCHES * 4 * 5


def test_local_completion_is_no_word_about_the_target():
    early = accesses(behaviours()[verdicts.INDEPENDENT])
    for synchronisation in ("lock_all_flush_local", "pscw"):
        local = judged(early, synchronisation=synchronisation)
        assert local.word == verdicts.LOCAL_COMPLETION
        assert set(local.early_fractions) == {1.0}
    # fetching operations have been at the target
    fetched = judged(early, synchronisation="lock_all_flush_local", operation="get")
    assert fetched.word == verdicts.INDEPENDENT


def with_releases(samples, releases):
    """Add the series `released`: for each launch the share of its first samples that it has."""
    times = samples.filter(pl.col("metric") == "elapsed")
    share = pl.col("round").replace_strict(dict(enumerate(releases, 1)), return_dtype=pl.Float64)
    flags = times.with_columns(
        metric=pl.lit("released"),
        value=(pl.col("index") < share * pl.len().over("round")).cast(pl.Float64),
    )
    return pl.concat([samples, flags])


def judged_with_releases(samples, releases, **labels):
    probes = launch_probes(progress.evidence(with_releases(samples, releases)))
    return progress.judge({**LABELS, "synchronisation": "pscw", **labels}, [*probes.values()])


def test_a_target_that_cannot_open_its_epoch_without_the_origin_synchronises():
    for word, operation in ((verdicts.WAITS, "get"), (verdicts.INDEPENDENT, "put")):
        found = judged_with_releases(
            accesses(behaviours()[word]), [1.0] * LAUNCHES, operation=operation
        )
        assert found.word == verdicts.SYNCHRONISING
        assert found.detail == (
            "MPI_Win_post synchronises with the origin: it returned only after the origin had "
            f"called MPI; after that the access returned as if {word}"
        )
        assert found.valid_launches == LAUNCHES


@pytest.mark.parametrize("releases", [[0.0] * 6, [1.0] * 4 + [0.0] * 2, [0.8] * 6])
def test_a_target_that_lost_its_core_before_some_accesses_does_not_synchronise(releases):
    waiting = accesses(behaviours()[verdicts.WAITS])
    assert judged_with_releases(waiting, releases, operation="get").word == verdicts.WAITS


def test_a_fence_and_an_idle_target_are_not_judged():
    waiting = accesses(behaviours()[verdicts.WAITS])
    assert judged(waiting, synchronisation="fence").word == verdicts.SYNCHRONISING
    assert judged(waiting, target_state="idle").word == verdicts.REFERENCE


def test_times_are_of_the_longest_compute_and_of_accesses_that_met_it():
    found = values(accesses(behaviours()[verdicts.WAITS]))
    assert found["elapsed", "longest"] == pytest.approx([10e-3 - DELTA_S] * LAUNCHES, rel=0.01)
    assert found["complete", "longest"] == pytest.approx([5e-3 - DELTA_S / 2] * LAUNCHES, rel=0.01)
    assert found["remaining", "longest"] == pytest.approx([10e-3 - DELTA_S] * LAUNCHES)
    assert all(0 < time < 1e-4 for time in found["after_return", "longest"])
    assert found["latency", "median"] == pytest.approx([2e-6] * LAUNCHES)
    assert found["visits", "median"] == [3.0] * LAUNCHES
    assert found["stretch", "median"] == pytest.approx([1.0] * LAUNCHES)


def test_a_target_that_was_slowed_is_stretched():
    found = values(accesses(behaviours()[verdicts.INDEPENDENT], noise=1.0))
    assert all(1.0 < stretch < 2.0 for stretch in found["stretch", "median"])


def test_the_slope_tells_a_time_that_grows_with_the_rest_from_one_that_does_not():
    waiting = values(accesses(behaviours()[verdicts.WAITS]))["slope", "remaining"]
    assert waiting == pytest.approx([1.0] * LAUNCHES, abs=0.02)
    free = values(accesses(behaviours()[verdicts.INDEPENDENT]))["slope", "remaining"]
    assert free == pytest.approx([0.0] * LAUNCHES, abs=0.01)


def test_a_launch_without_a_valid_access_has_no_time():
    found = values(accesses(behaviours()[verdicts.WAITS], spoilt=2))
    assert len(found["elapsed", "longest"]) == LAUNCHES - 2
    assert len(found["latency", "median"]) == LAUNCHES
