"""A campaign makes its report even if the clock of the day is set meanwhile."""

import json

import polars as pl
import pytest


@pytest.mark.one_case
@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_clock_that_is_set_in_a_launch_costs_no_report(
    campaign_that_ran, called, tmp_path, step_s
):
    results = tmp_path / "results" / "tiny"
    for path in results.glob("sessions/**/launches.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if "end_s" in line:
                line["end_s"] += step_s
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    called("collect", campaign_that_ran, check=True)
    timing = json.loads((results / "campaign.json").read_text())["timing"]
    assert min(timing["parts"].values()) >= 0
    assert 0 <= timing["inside_launches_s"] <= timing["wall_s"] < 3600
    assert pl.read_parquet(results / "launches.parquet")["elapsed_s"].min() >= 0
    called("report", results, check=True)
