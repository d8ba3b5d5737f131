"""The analysis of samples in an experiment without verdicts."""

import polars as pl
import pytest

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.cells.verdicts import REFERENCE
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.regression.references import launch_figures

#: By round: the times of ranks 0 and 1 in three samples.
TIMES = {1: [(1.0, 3.0), (2.0, 6.0), (8.0, 10.0)], 2: [(5.0, None), (7.0, 7.0), (6.0, 9.0)]}
EXPECTED = {"mean": (4.0, 7.0), "max": (6.0, 7.0), "sum": (8.0, 14.0)}


@pytest.fixture
def samples():
    rows = [
        {**dict.fromkeys(LAUNCH, "same"), "round": number, "metric": metric, "rank": rank,
         "index": index, "value": value if value is None else factor * value}
        for number, of_samples in TIMES.items()
        for index, of_ranks in enumerate(of_samples)
        for rank, value in enumerate(of_ranks)
        for metric, factor in (("time", 1.0), ("other", 1000.0))
    ]  # fmt: skip
    return pl.DataFrame(rows)


@pytest.mark.parametrize("over_ranks", EXPECTED)
def test_a_launchs_value_is_the_median_over_samples_of_what_is_taken_of_the_ranks(
    samples, over_ranks
):
    analysis = ReferenceAnalysis([Metric("elapsed", "time", "s", over_ranks)], "nobody computes")
    values = analysis.launch_values(pl.DataFrame(), samples)
    assert dict(values.select("round", "value").iter_rows()) == dict(
        zip(TIMES, EXPECTED[over_ranks], strict=True)
    )
    described = values.select("metric", "statistic", "unit").unique()
    assert described.rows() == [("elapsed", "median", "s")]


@pytest.mark.parametrize("origins", [False, True])
@pytest.mark.parametrize("over_ranks", EXPECTED)
def test_reframe_shows_the_value_that_the_report_has(samples, over_ranks, origins):
    metric = Metric("elapsed", "time", "s", over_ranks, origins=origins)
    values = ReferenceAnalysis([metric], "").launch_values(pl.DataFrame(), samples)
    shown = dict(values.select("round", "value").iter_rows())
    assert len(shown) == len(TIMES)
    for number, of_samples in TIMES.items():
        series = [
            {"metric": "time", "rank": rank, "samples": list(of_rank)}
            for rank, of_rank in enumerate(zip(*of_samples, strict=True))
        ]
        figures = launch_figures({"put": {"series": series}, "get": {"series": []}}, [metric])
        assert figures == {"elapsed[put]": pytest.approx(shown[number])}


def test_a_figure_is_of_samples_with_a_fraction_and_without():
    series = [{"metric": "time", "rank": 0, "samples": [1, 0.5, None, 2]}]
    results = {"put": {"series": series}, "get": {"series": [{**series[0], "samples": [3]}]}}
    figures = launch_figures(results, [Metric("time", "time", "s")])
    assert figures == {"time[put]": 1.0, "time[get]": 3.0}


def test_samples_that_do_not_count_are_in_no_value(samples):
    class Picky(ReferenceAnalysis):
        def counted(self, samples):
            return samples.filter(pl.col("index") == 2)

    analysis = Picky([Metric("time", "time", "s", "max")], "")
    values = analysis.launch_values(pl.DataFrame(), samples)
    assert values["value"].to_list() == [10.0, 9.0]
    assert sorted(analysis.pooled_samples(samples)["value"]) == [6.0, 8.0, 9.0, 10.0]


def test_several_metrics_have_a_value_each_and_nothing_is_judged(samples):
    analysis = ReferenceAnalysis(
        [Metric("time", "time", "s"), Metric("bytes", "other", "B", "sum")], "nobody computes"
    )
    values = analysis.launch_values(pl.DataFrame(), samples)
    assert values.select("metric", "unit").unique().sort("metric").rows() == [
        ("bytes", "B"), ("time", "s"),
    ]  # fmt: skip
    assert values.filter(pl.col("metric") == "bytes")["value"].to_list() == [8000.0, 14000.0]
    assert set(analysis.pooled_samples(samples)["metric"]) == {"time", "bytes"}
    assert analysis.evidence(samples).height == 0
    verdict = analysis.judge({}, [])
    assert (verdict.word, verdict.detail) == (REFERENCE, "nobody computes")
