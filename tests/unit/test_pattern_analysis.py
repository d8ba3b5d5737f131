"""The analysis of a pattern: its times, and which ranks waited for the computing rank."""

import statistics

import polars as pl
import pytest

from onesided.campaign.tables import LAUNCH, USABLE_STATUSES
from onesided.cells.verdicts import (
    INDEPENDENT,
    PARTIAL,
    REFERENCE,
    RELEASED,
    SYNCHRONISING,
    UNDECIDED,
    WAITS,
    Probe,
)
from onesided.measure.cell_verdicts import launch_probes
from onesided.measure.common_analyses import OF_REMAINING
from onesided.regression.references import launch_figures
from onesided.studies import find
from onesided.studies.luecke.analysis import (
    ANALYSIS,
    FILTERED_MEAN,
    MEDIAN,
    SHARE,
    TIME,
    WARM_UP_TRIALS,
    filtered,
)

COMPUTING = {"target_state": "computes"}
KERNELS = {
    "distant_messages", "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all",
}  # fmt: skip


def samples(*series, turn=1):
    """Return samples from metric, rank and values."""
    rows = [
        {**dict.fromkeys(LAUNCH, "same"), "round": turn, "metric": metric, "rank": rank,
         "index": index, "value": value}
        for metric, rank, values in series
        for index, value in enumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def meeting(took, behind=0.0, rank=1, begins=0.001):
    """One rank's part in two trials, in which rank 0 computes for 10 ms from 1 s and from 2 s."""
    return (
        ("access_begin", rank, [1 + begins, 2 + begins]),
        ("access", rank, [took, took]),
        ("behind", rank, [behind, behind]),
    )


COMPUTES = (("compute_begin", 0, [1.0, 2.0]), ("compute", 0, [0.01, 0.01]))


def values(found):
    return {(m, s): v for m, s, v in found.select("metric", "statistic", "value").iter_rows()}


def test_time_is_the_median_and_the_filtered_mean_of_all_trials_but_the_first():
    times = [50.0, *[1.0] * 12, *[2.0] * 6, 30.0, 40.0]
    found = values(ANALYSIS.launch_values(pl.DataFrame(), samples(("time", 0, times))))
    assert found["time", MEDIAN] == statistics.median(times[1:]) == 1.0
    # eight times are above 1.8 s, and a tenth of 20 may be removed: the two largest
    assert found["time", FILTERED_MEAN] == pytest.approx((12 + 12) / 18)
    assert found["removed", SHARE] == 0.1
    assert ("wait", OF_REMAINING) not in found


def test_both_statistics_skip_the_same_trials_and_reframe_shows_the_same_median():
    times = [100.0, 3.0, 1.0, 2.0]
    made = samples(("time", 0, times))
    (row,) = filtered(made, LAUNCH).to_dicts()
    assert row["filtered_mean"] == 2.0
    assert TIME.skipped == WARM_UP_TRIALS
    series = [{"metric": "time", "rank": 0, "samples": times}]
    (shown,) = launch_figures({"put": {"series": series}}, [TIME]).values()
    assert shown == values(ANALYSIS.launch_values(pl.DataFrame(), made))["time", MEDIAN] == 2.0
    assert sorted(ANALYSIS.pooled_samples(made)["value"]) == [1.0, 2.0, 3.0]


def test_an_access_is_compared_with_what_was_left_of_the_compute_it_met():
    made = samples(*COMPUTES, *meeting(0.003))
    found = ANALYSIS.evidence(made)
    assert found["rank"].to_list() == [1, 1]
    assert found["remaining"].to_list() == pytest.approx([0.009, 0.009])
    assert found["elapsed"].to_list() == [0.003, 0.003]
    assert found["valid"].to_list() == [True, True]
    wait = values(ANALYSIS.launch_values(pl.DataFrame(), made))["wait", OF_REMAINING]
    assert wait == pytest.approx(1 / 3)


@pytest.mark.parametrize("begins", [-0.001, 0.0095, 0.02])
def test_an_access_before_or_after_the_compute_or_at_its_end_is_not_valid(begins):
    found = ANALYSIS.evidence(samples(*COMPUTES, *meeting(0.003, begins=begins)))
    assert found["valid"].to_list() == [False, False]


def test_who_needs_a_call_of_the_computing_rank_is_in_no_verdict():
    made = samples(*COMPUTES, *meeting(0.003), *meeting(0.02, behind=1.0, rank=2))
    found = ANALYSIS.evidence(made)
    assert found.filter(rank=2)["valid"].to_list() == [False, False]
    (probe,) = launch_probes(found).values()
    assert (probe.elapsed, probe.released) == ((0.003, 0.003), 0.5)
    wait = values(ANALYSIS.launch_values(pl.DataFrame(), made))["wait", OF_REMAINING]
    assert wait == pytest.approx(1 / 3)


def probes(took, released=0.0, launches=6):
    one = Probe((0.009,) * 5, (took,) * 5, released) if took else Probe((), (), released)
    return [one] * launches


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (probes(1e-5), INDEPENDENT),
        (probes(0.01), WAITS),
        (probes(0.006), PARTIAL),
        (probes(1e-5, released=0.5), INDEPENDENT),
        (probes(None, released=1.0), SYNCHRONISING),
        (probes(None), UNDECIDED),
        (probes(1e-5, launches=4), UNDECIDED),
        ([], UNDECIDED),
    ],
)
def test_a_cell_in_which_a_rank_computes_is_judged_as_the_counters_are(found, word):
    assert ANALYSIS.judge(COMPUTING, found).word == word


def test_a_launch_in_which_one_rank_waited_for_itself_is_not_synchronising():
    mixed = [*probes(None, released=1.0, launches=3), *probes(1e-5, launches=3)]
    assert ANALYSIS.judge(COMPUTING, mixed).word != SYNCHRONISING


def test_where_all_take_part_nothing_is_judged():
    assert ANALYSIS.judge({"target_state": "takes_part"}, probes(1e-5)).word == REFERENCE


def test_accesses_without_the_series_behind_count():
    made = samples(*COMPUTES, *meeting(0.003)).filter(pl.col("metric") != "behind")
    found = ANALYSIS.evidence(made)
    assert found["valid"].to_list() == [True, True]
    assert found[RELEASED].to_list() == [None, None]


def test_a_failure_after_the_last_cell_spoils_no_sample():
    assert "teardown_failure" in USABLE_STATUSES


def test_the_five_patterns_are_experiments_of_one_study():
    found = {name: entry for name, entry in find().items() if entry.study.name == "luecke"}
    assert set(found) == KERNELS
    assert all(entry.analysis is ANALYSIS for entry in found.values())
    assert {(e.merit.metric, e.merit.statistic) for e in found.values()} == {("time", MEDIAN)}
