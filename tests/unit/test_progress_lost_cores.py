"""Origins and targets that lost their core say nothing about an MPI."""

from __future__ import annotations

import polars as pl
import pytest
from made_up.accesses import LAUNCHES, accesses, behaviours, judged, probes_of, with_series

from onesided.cells import verdicts
from onesided.cells.verdicts import Probe
from onesided.studies.stfc.progress import analysis as progress
from onesided.studies.stfc.shared_counter import analysis as shared_counter

LOST = pl.col("value") / 2


def test_an_origin_that_lost_its_core_beside_a_probing_target_says_nothing_of_the_mpi():
    late = accesses(behaviours()[verdicts.WAITS], launches=1)
    lost = with_series(late, "access_run_delay", LOST)
    assert progress.evidence(late)["valid"].sum() == 2 * 5
    assert progress.evidence(lost)["valid"].sum() == 0
    # if the target should not come to MPI at all, the MPI is slow, or nobody is
    unvisited = lost.filter(pl.col("metric") != "visits")
    assert progress.evidence(unvisited)["valid"].sum() == 2 * 5


def test_an_origin_that_lost_its_core_was_early_where_few_visits_came_meanwhile():
    # the late visits are an upper bound of the visits that the access needed
    late = accesses(behaviours()[verdicts.WAITS])
    lost = with_series(late, "access_run_delay", LOST)
    early = judged(with_series(lost, "visits_remaining", pl.lit(60.0)))
    assert early.word == verdicts.INDEPENDENT
    assert early.valid_launches == LAUNCHES
    # a high bound excludes nothing: never `waits` from an origin without a core
    late_or_not = judged(with_series(lost, "visits_remaining", pl.lit(3.0)))
    assert (late_or_not.word, late_or_not.valid_launches) == (verdicts.UNDECIDED, 0)


def test_a_delay_that_waiting_for_cores_accounts_for_is_none_of_the_mpis():
    # early, after 40 % of the remaining time; the ranks waited for their cores for 0, or for most
    # of it
    late = accesses(behaviours()[verdicts.WAITS])
    early = late.with_columns(
        value=pl.when(metric="elapsed").then(4.4e-3).otherwise("value")
    ).with_columns(value=pl.when(metric="remaining").then(11e-3).otherwise("value"))
    visited = with_series(early, "visits_remaining", pl.lit(1000.0))
    waited = with_series(visited, "access_run_delay", pl.lit(0.5e-3))
    waited = with_series(waited, "compute_run_delay", pl.lit(0.5e-3))
    # nobody lost a tenth of these
    longest = early.filter(pl.col("value") >= 10e-3, metric="compute").select(progress.SAMPLE)
    told = {
        name: progress.evidence(samples.join(longest, on=progress.SAMPLE))["elapsed"]
        .unique()
        .to_list()
        for name, samples in (("idle", visited), ("busy", waited))
    }
    assert told["idle"] == pytest.approx([4.4e-3])
    assert told["busy"] == pytest.approx([3.4e-3])
    # nothing is subtracted for a target without visits, or from a late access
    unvisited = waited.filter(~pl.col("metric").str.starts_with("visits"))
    assert progress.evidence(unvisited)["elapsed"].max() == pytest.approx(4.4e-3)
    late_too = with_series(late, "visits_remaining", pl.lit(1000.0))
    late_too = with_series(late_too, "access_run_delay", pl.lit(0.05e-3))
    assert judged(late_too).word == verdicts.WAITS


@pytest.mark.parametrize(("visits", "word"), [(3.0, verdicts.INDEPENDENT), (60.0, verdicts.WAITS)])
def test_a_probing_target_that_lost_its_core_is_judged_by_its_own_visits(visits, word):
    # by the wall clock every access is late, and so many of the target's visits were in it
    late = accesses(behaviours()[verdicts.WAITS])
    met = late.with_columns(value=pl.when(metric="visits").then(visits).otherwise("value"))
    lost = with_series(met, "compute_run_delay", LOST)
    known = with_series(lost, "visits_remaining", pl.lit(60.0))
    assert judged(known).word == word
    found = progress.evidence(known).filter("valid")
    assert (found["remaining"] < 0.011 / 2 * 1.1).all()  # the time it really ran
    # the wall clock judges a target that kept its core, however many visits there were
    assert judged(with_series(late, "visits_remaining", pl.lit(60.0))).word == verdicts.WAITS


def test_a_target_that_had_no_core_for_nearly_all_that_remained_was_not_computing_meanwhile():
    # it ran for half of its state by the rank's own clock; this half was before the issue
    late = accesses(behaviours()[verdicts.WAITS])
    lost = with_series(late, "compute_run_delay", LOST)
    few = judged(with_series(lost, "visits_remaining", pl.lit(9.0)))
    assert (few.word, few.valid_launches) == (verdicts.UNDECIDED, 0)
    enough = judged(with_series(lost, "visits_remaining", pl.lit(10.0)))
    assert enough.valid_launches == LAUNCHES
    # the wall clock judges an origin that kept its core, and needs no visits
    kept = judged(with_series(late, "visits_remaining", pl.lit(9.0)))
    assert (kept.word, kept.valid_launches) == (verdicts.WAITS, LAUNCHES)


def test_one_launch_is_judged_as_the_analysis_does():
    late = accesses(behaviours()[verdicts.WAITS], launches=1)
    series = [
        {"metric": metric, "rank": 1, "samples": part.sort("index")["value"].to_list()}
        for (metric,), part in late.group_by("metric")
    ]
    probe = progress.probe_of_series(series)
    assert sorted(probe.remaining) == sorted(probes_of(late)[0].remaining)
    assert probe.early_fraction == 0


@pytest.mark.parametrize("state", progress.HELPED)
@pytest.mark.parametrize("word", [verdicts.INDEPENDENT, verdicts.WAITS])
def test_progress_that_the_target_helps_has_a_word_of_its_own(state, word):
    found = judged(accesses(behaviours()[word]), target_state=state).word
    assert found == {verdicts.INDEPENDENT: verdicts.WITH_HELP}.get(word, word)


def test_a_counter_whose_owner_has_a_helper_progresses_with_help():
    early = [Probe((9e-3,) * 4, (1e-6,) * 4)] * LAUNCHES
    labels = {"compute_ms": "10", "spread_percent": "50"}
    words = {
        case: shared_counter.judge({**labels, "case": case}, early).word
        for case in (shared_counter.BASE_CASE, *shared_counter.HELPED_CASES)
    }
    assert words.pop(shared_counter.BASE_CASE) == verdicts.INDEPENDENT
    assert set(words.values()) == {verdicts.WITH_HELP}
