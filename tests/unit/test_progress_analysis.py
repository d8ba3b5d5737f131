"""Claims about the analysis of the series that the kernel progress writes."""

from __future__ import annotations

import random

import polars as pl
import pytest

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.cells.verdicts import Probe
from onesided.measure import judging
from onesided.measure.cell_verdicts import launch_probes
from onesided.measure.values import IN_SUMMARY
from onesided.studies.stfc.progress import analysis as progress
from onesided.studies.stfc.shared_counter import analysis as shared_counter

LAUNCHES = 6
LENGTHS_S = (0.0, 1e-3, 3e-3, 10e-3)
DELTA_S = 2e-4
TICK_S = 4e-3
LABELS = {
    "operation": "put",
    "flavor": "create",
    "synchronisation": "lock_all_flush",
    "target_state": "computes",
}


def behaviours():
    """Seconds of an access, from the remaining compute and a source of noise."""

    def independent(rest, source):
        return 2e-6 * source.uniform(0.8, 3)

    def waits(rest, source):
        return max(rest, 0) + 1e-5 * source.uniform(0.5, 3)

    def delayed(rest, source):  # until the next tick, at any phase of the tick
        return min(max(rest, 0), TICK_S * source.uniform(0.1, 1))

    def partial(rest, source):
        return source.choice([2e-6, max(rest, 0)])

    return {
        verdicts.INDEPENDENT: independent,
        verdicts.WAITS: waits,
        verdicts.DELAYED: delayed,
        verdicts.PARTIAL: partial,
    }


NEAR_S, FAR_S = 1.1e-7, 3.2e-7
OWN, SHARED = 3.87, 2.2  # operations at a time


def accesses(
    behaviour,
    launches=LAUNCHES,
    samples=5,
    spoilt=0,
    noise=0.0,
    lengths=LENGTHS_S,
    trips=None,
    widths=None,
    target_widths=None,
):
    """Return collected samples of one origin; `spoilt` launches issue all outside the compute.

    `trips` has for each launch the round trips of a cache line before and after the latency. With
    long round trips the latency is three times as high. `widths` has how many operations the core
    did at a time. With a low width the latency is twice as high. `target_widths` has the same for
    the target's core before and after the latency; a low width there costs a fifth.
    """
    source = random.Random(7)
    rows = []
    for number in range(1, launches + 1):
        plan = [length for length in lengths for _ in range(samples)]
        source.shuffle(plan)
        for index, length in enumerate(plan):
            computed = length * (1 + noise * source.random())
            remaining = computed - DELTA_S if number > spoilt else -1e-4
            elapsed = behaviour(remaining, source)
            parts = {"begin": 0.25 * elapsed, "issue": 0.25 * elapsed, "complete": 0.5 * elapsed}
            series = {
                **parts,
                "elapsed": elapsed,
                "remaining": remaining,
                "valid": float(remaining > 0),
                "compute_requested": length,
                "compute": computed,
                "visits": 3.0,
            }
            rows += [(number, metric, index, value) for metric, value in series.items()]
        before, after = trips[number - 1] if trips else (None, None)
        factor = 3 if trips and max(before, after) > 2 * NEAR_S else 1
        if widths:
            factor *= 2 if widths[number - 1] < OWN else 1
            rows += [(number, "core_width", index, widths[number - 1]) for index in range(3)]
        if target_widths:
            looks = target_widths[number - 1]
            factor *= 1.2 if min(looks) < OWN else 1
            rows += [
                (number, "target_core_width", index, width) for index, width in enumerate(looks)
            ]
        rows += [(number, "latency", index, factor * 1e-6 * (1 + index)) for index in range(3)]
        if trips:
            # the other rank may still be in its barrier during the very first trip
            found = [before * 5, before, before, after, after, after]
            rows += [(number, "line_round_trip", index, time) for index, time in enumerate(found)]
    frame = pl.DataFrame(rows, schema=["round", "metric", "index", "value"], orient="row")
    place = (pl.lit("x").alias(name) for name in PLACE)
    return frame.with_columns(*place, rank=pl.lit(1))


def probes_of(samples):
    found = progress.evidence(samples).filter("valid").group_by("round", maintain_order=True)
    probes = [Probe(tuple(part["remaining"]), tuple(part["elapsed"])) for _, part in found]
    launches = samples["round"].n_unique()
    return probes + [Probe((), ())] * (launches - len(probes))


def judged(samples, **labels):
    return progress.judge({**LABELS, **labels}, probes_of(samples))


def values(samples):
    cells = samples.select(*PLACE, "round").unique()
    found = progress.launch_values(cells, samples)
    return {
        (metric, statistic): part["value"].to_list()
        for (metric, statistic), part in found.group_by("metric", IN_SUMMARY)
    }


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


NEAR, FAR = (NEAR_S, NEAR_S), (FAR_S, FAR_S)


def latencies(trips):
    found = values(accesses(behaviours()[verdicts.WAITS], trips=trips))
    return found["latency", "median"], found.get(("latency", "far"), [])


def test_latencies_met_far_apart_are_kept_and_not_pooled_with_the_others():
    near, far = latencies([NEAR, NEAR, FAR, NEAR, NEAR, NEAR])
    assert near == pytest.approx([2e-6] * 5)
    assert far == pytest.approx([6e-6])


@pytest.mark.parametrize("changed", [(NEAR_S, FAR_S), (FAR_S, NEAR_S)])
def test_a_distance_that_changes_during_the_latency_counts_as_far(changed):
    near, far = latencies([NEAR, NEAR, NEAR, NEAR, NEAR, changed])
    assert (len(near), len(far)) == (5, 1)


def test_a_latency_met_on_two_threads_of_one_core_is_not_pooled_with_those_on_two_cores():
    trips = [*[NEAR] * (LAUNCHES - 1), (NEAR_S / 6, NEAR_S / 6)]
    samples = accesses(behaviours()[verdicts.WAITS], trips=trips)
    cheap = (pl.col("metric") == "latency") & (pl.col("round") == LAUNCHES)
    value = pl.when(cheap).then(pl.col("value") / 2).otherwise(pl.col("value"))
    found = values(samples.with_columns(value.alias("value")))
    assert found["latency", "median"] == pytest.approx([2e-6] * (LAUNCHES - 1))
    assert found["latency", "far"] == pytest.approx([1e-6])


def test_a_latency_that_does_not_depend_on_the_distance_keeps_every_launch():
    trips = [NEAR, NEAR, FAR, NEAR, FAR, NEAR]
    samples = accesses(behaviours()[verdicts.WAITS], trips=trips)
    local = pl.when(pl.col("metric") == "latency").then(2e-6).otherwise(pl.col("value"))
    found = values(samples.with_columns(local.alias("value")))
    assert found["latency", "median"] == pytest.approx([2e-6] * LAUNCHES)
    assert ("latency", "far") not in found


def test_distances_that_differ_by_a_little_are_all_near():
    trips = [(NEAR_S * (1 + 0.04 * step),) * 2 for step in range(LAUNCHES)]
    near, far = latencies(trips)
    assert (len(near), len(far)) == (LAUNCHES, 0)


def test_a_cell_that_was_never_met_near_keeps_its_latencies():
    near_cell = accesses(behaviours()[verdicts.WAITS], trips=[NEAR] * LAUNCHES)
    far_cell = accesses(behaviours()[verdicts.WAITS], trips=[FAR] * LAUNCHES).with_columns(
        cell=pl.lit("another")
    )
    samples = pl.concat([near_cell, far_cell])
    found = progress.launch_values(samples.select(*PLACE, "round").unique(), samples)
    latency = found.filter((pl.col("metric") == "latency") & (pl.col("cell") == "another"))
    assert latency["statistic"].to_list() == ["median"] * LAUNCHES
    assert latency["kind"].to_list() == [None] * LAUNCHES
    assert latency["value"].to_list() == pytest.approx([6e-6] * LAUNCHES)


def test_latencies_met_on_a_core_that_another_used_too_are_kept_and_not_pooled_with_the_others():
    widths = [OWN, SHARED, OWN, OWN, SHARED, OWN]
    found = values(accesses(behaviours()[verdicts.WAITS], widths=widths))
    assert found["latency", "median"] == pytest.approx([2e-6] * 4)
    assert found["latency", "shared"] == pytest.approx([4e-6] * 2)
    assert sorted(found["core_width", "median"]) == pytest.approx(sorted(widths))


def test_a_core_that_does_a_little_less_at_a_time_is_still_ones_own():
    widths = [OWN * 0.9, *[OWN] * (LAUNCHES - 1)]
    samples = accesses(behaviours()[verdicts.WAITS], widths=widths)
    assert ("latency", "shared") not in values(samples)


def test_a_latency_that_does_not_depend_on_whose_the_core_is_keeps_every_launch():
    samples = accesses(behaviours()[verdicts.WAITS], widths=[OWN, OWN, OWN, OWN, SHARED, SHARED])
    network = pl.when(metric="latency").then(2e-6).otherwise("value")
    found = values(samples.with_columns(value=network))
    assert found["latency", "median"] == pytest.approx([2e-6] * LAUNCHES)
    assert ("latency", "shared") not in found


def test_where_no_core_was_ever_ones_own_every_latency_counts():
    found = values(accesses(behaviours()[verdicts.WAITS], widths=[SHARED] * LAUNCHES))
    assert found["latency", "median"] == pytest.approx([4e-6] * LAUNCHES)


def test_most_launches_are_not_set_aside_for_one():
    widths = [OWN, *[SHARED] * (LAUNCHES - 1)]
    found = values(accesses(behaviours()[verdicts.WAITS], widths=widths))
    assert sorted(found["latency", "median"]) == pytest.approx([2e-6, *[4e-6] * (LAUNCHES - 1)])
    assert ("latency", "shared") not in found


def test_a_latency_is_far_only_among_those_on_cores_of_ones_own():
    # the only launches with near cores were on shared cores, so only the far ones remain
    found = values(
        accesses(
            behaviours()[verdicts.WAITS],
            trips=[NEAR, NEAR, FAR, FAR, FAR, FAR],
            widths=[SHARED, SHARED, OWN, OWN, OWN, OWN],
        )
    )
    assert found["latency", "median"] == pytest.approx([6e-6] * 4)
    assert found["latency", "shared"] == pytest.approx([4e-6] * 2)
    assert ("latency", "far") not in found


def test_latencies_beside_a_target_on_a_shared_core_are_kept_apart_where_that_matters():
    own, one_look, both = (OWN, OWN), (OWN, SHARED), (SHARED, SHARED)
    beside = [own, one_look, own, both, own, own]
    samples = accesses(behaviours()[verdicts.WAITS], target_widths=beside)
    found = values(samples)
    assert found["latency", "median"] == pytest.approx([2e-6] * 4)
    assert found["latency", "shared"] == pytest.approx([2.4e-6] * 2)
    # an access on its own core does not know who uses the target's core
    local = pl.when(metric="latency").then(2e-6).otherwise("value")
    found = values(samples.with_columns(value=local))
    assert found["latency", "median"] == pytest.approx([2e-6] * LAUNCHES)
    assert ("latency", "shared") not in found


def test_the_target_s_core_is_asked_for_only_among_latencies_on_the_origin_s_own():
    # on a core that another program used too, the latency is high, whatever the target's core is
    own, shared = (OWN, OWN), (SHARED, SHARED)
    found = values(
        accesses(
            behaviours()[verdicts.WAITS],
            widths=[OWN, OWN, OWN, SHARED, SHARED, SHARED],
            target_widths=[own, own, shared, own, own, shared],
        )
    )
    assert found["latency", "median"] == pytest.approx([2e-6] * 2)
    assert sorted(found["latency", "shared"]) == pytest.approx([2.4e-6, 4e-6, 4e-6, 4.8e-6])


def several(moments_of):
    """Return samples with several moments in a launch: latency, round trip and width."""
    rows = []
    for number in range(1, LAUNCHES + 1):
        moments = moments_of(number)
        for turn, (latency_s, trip_s, width) in enumerate(moments):
            rows += [(number, "line_round_trip", 6 * turn + i, trip_s) for i in range(6)]
            rows += [
                (number, "latency", 4 * turn + i, latency_s * (1 + i % 2 * 0.01)) for i in range(4)
            ]
            rows += [(number, "core_width", 4 * turn + i, width) for i in range(4)]
    frame = pl.DataFrame(rows, schema=["round", "metric", "index", "value"], orient="row")
    place = (pl.lit("x").alias(name) for name in PLACE)
    whole = accesses(behaviours()[verdicts.WAITS]).filter(pl.col("metric") != "latency")
    return pl.concat([whole, frame.with_columns(*place, rank=pl.lit(1)).select(whole.columns)])


def test_a_launch_s_latency_is_the_least_of_the_moments_whose_cores_were_as_it_asks():
    def moments_of(number):
        if number == LAUNCHES:  # never near
            return [(6.4e-6, FAR_S, OWN), (6e-6, FAR_S, OWN), (6.2e-6, FAR_S, OWN)]
        return [
            (6e-6, FAR_S, OWN),
            (2.2e-6, NEAR_S, OWN),
            (2.1e-6 if number == 1 else 4e-6, NEAR_S, SHARED),
            (2.4e-6, NEAR_S, OWN),
            (2.2e-6, NEAR_S, OWN),
        ]

    found = values(several(moments_of))
    assert found["latency", "median"] == pytest.approx([2.2e-6 * 1.005] * (LAUNCHES - 1))
    assert found["latency", "far"] == pytest.approx([6e-6 * 1.005])
    assert ("latency", "shared") not in found
    # the distance is from the same moment
    assert sorted(found["line_round_trip", "median"]) == pytest.approx(
        [NEAR_S] * (LAUNCHES - 1) + [FAR_S]
    )


def test_a_launch_that_had_no_core_of_its_own_is_not_pooled_with_those_that_were_far_apart():
    def moments_of(number):
        kinds = {1: [(6e-6, FAR_S, OWN), (4e-6, NEAR_S, SHARED)], 2: [(4e-6, NEAR_S, SHARED)] * 2}
        return kinds.get(number, [(2e-6, NEAR_S, OWN)] * 2)

    found = values(several(moments_of))
    assert found["latency", "median"] == pytest.approx([2.01e-6] * (LAUNCHES - 2))
    assert found["latency", "far"] == pytest.approx([6.03e-6])
    assert found["latency", "shared"] == pytest.approx([4.02e-6])


def test_without_a_distance_every_latency_counts():
    found = values(accesses(behaviours()[verdicts.WAITS]))
    assert len(found["latency", "median"]) == LAUNCHES
    assert ("line_round_trip", "median") not in found


def with_series(samples, name, value):
    """Return the samples with another series, which depends on the state's length."""
    more = samples.filter(pl.col("metric") == "compute")
    return pl.concat([samples, more.with_columns(metric=pl.lit(name), value=value)])


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
