"""Which latencies of the kernel progress are pooled: by distance, and by whose the cores are."""

from __future__ import annotations

import polars as pl
import pytest
from made_up.accesses import (
    FAR,
    FAR_S,
    LAUNCHES,
    NEAR,
    NEAR_S,
    OWN,
    SHARED,
    accesses,
    behaviours,
    values,
)

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.studies.stfc.progress import analysis as progress


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
