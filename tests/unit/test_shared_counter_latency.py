"""The latency of the shared counter has the same meaning as in the other kernels."""

from __future__ import annotations

import polars as pl
import pytest

from onesided.campaign.tables import CELL_COLUMNS, PLACE
from onesided.measure.latencies import MET, NOT_KNOWN, are_alike
from onesided.measure.values import IN_SUMMARY
from onesided.studies.stfc.shared_counter import analysis as shared_counter

NEAR_S, OWN, SHARED = 1e-7, 3.9, 2.1
LAUNCHES = 6


def launch(number, moments):
    """Return the samples of a launch: for each moment its latency and the state of its core."""
    rows = []
    for moment, (latency_s, width) in enumerate(moments):
        rows += [(number, 1, "latency", 3 * moment + i, latency_s) for i in range(3)]
        rows += [(number, 1, "core_width", 3 * moment + i, width) for i in range(3)]
        rows += [(number, 1, "line_round_trip", 6 * moment + i, NEAR_S) for i in range(6)]
        rows += [(number, 0, "target_core_width", 2 * moment + i, OWN) for i in range(2)]
    return rows


def values(launches, metric):
    """Return a metric of some launches by statistic, in the order of the rounds."""
    schema = ["round", "rank", "metric", "index", "value"]
    rows = [row for number, of in enumerate(launches, 1) for row in launch(number, of)]
    place = [pl.lit("x").alias(name) for name in PLACE]
    samples = pl.DataFrame(rows, schema=schema, orient="row").with_columns(place)
    labels = pl.lit('{"case": "target_idle", "algorithm": "fetch_and_op"}').alias("labels")
    cells = (
        samples.select(*PLACE, "round")
        .unique()
        .with_columns(labels, rank_nodes=pl.lit(None, pl.String))
    )
    assert "labels" in CELL_COLUMNS
    found = shared_counter.launch_values(cells, samples).filter(pl.col("metric") == metric)
    return {
        statistic: part.sort("round")["value"].to_list()
        for (statistic,), part in found.group_by(IN_SUMMARY)
    }


def latencies(launches):
    return values(launches, "latency")


def test_a_latency_is_that_of_the_least_moment():
    moments = [(3e-6, OWN), (2e-6, OWN), (4e-6, OWN)]
    assert latencies([moments] * LAUNCHES) == {"median": pytest.approx([2e-6] * LAUNCHES)}


def test_a_launch_on_a_core_of_another_s_too_is_kept_apart():
    own, shared = [(2e-6, OWN)] * 2, [(4e-6, SHARED)] * 2
    found = latencies([own] * (LAUNCHES - 1) + [shared])
    assert found["median"] == pytest.approx([2e-6] * (LAUNCHES - 1))
    assert found["shared"] == pytest.approx([4e-6])


def test_it_is_told_how_the_launches_of_a_latency_met_the_cores():
    own, shared = [(2e-6, OWN)] * 2, [(4e-6, SHARED)] * 2
    # launches with shared cores differ and are left out: the others are all alike
    found = values([own] * (LAUNCHES - 1) + [shared], MET)
    assert found["own"] == [1.0] * (LAUNCHES - 1)
    # too few had a core of their own: the latency is from two kinds of launches
    found = values([own] + [shared] * (LAUNCHES - 1), MET)
    assert found["own"] == [1.0] + [0.0] * (LAUNCHES - 1)
    # if the latency is the same on both, nothing distinguishes them
    found = values([own, [(2e-6, SHARED)] * 2] * 3, MET)
    assert "own" not in found


KNOWN, OTHER, MIXED, SAME = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), None


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (KNOWN, KNOWN, True),
        (KNOWN, SAME, True),
        (SAME, SAME, True),
        (OTHER, OTHER, True),
        (KNOWN, OTHER, False),
        (MIXED, KNOWN, False),
        (MIXED, MIXED, False),
        (MIXED, SAME, False),
    ],
)
def test_two_latencies_are_compared_where_their_launches_are_of_one_kind(first, second, alike):
    for place in range(len(NOT_KNOWN)):
        one, other = list(NOT_KNOWN), list(NOT_KNOWN)
        one[place], other[place] = first, second
        assert are_alike(tuple(one), tuple(other)) == alike
        assert are_alike(tuple(other), tuple(one)) == alike
