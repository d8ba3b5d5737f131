"""LBW, ATA and STS through sbatch, packed on a node and spread over two: one complete round.

One MPI only: test_quick_campaign.py runs all MPIs on the cluster. The kernels' own tests run the
other MPIs and compare the maps of all.
"""

import json

import polars as pl
import yaml

from onesided.system.paths import config_dir

CAMPAIGN = yaml.safe_load((config_dir() / "campaigns" / "cluster_llnl.yaml").read_text("utf-8"))
NAMES = CAMPAIGN["environments"][:1]
KERNELS = {"latency_bandwidth", "swapped_all_to_all", "some_to_some"}


def test_one_round_is_complete_and_right_packed_and_spread(
    cluster, ready_environment, campaign_file, onesided, tmp_path
):
    for name in NAMES:
        ready_environment(name)
    onesided("run", campaign_file("cluster_llnl", **{**CAMPAIGN, "environments": NAMES}))
    results = tmp_path / "results" / "cluster_llnl"
    cells = pl.read_parquet(results / "cells.parquet")
    bad = cells.filter(pl.col("status") != "ok").select(
        "environment", "partition", "cell", "status"
    )
    assert bad.rows() == []
    places = {(name, place) for name in NAMES for place in ("node", "network")}
    for kernel in KERNELS:
        own = cells.filter(pl.col("kernel") == kernel)
        found = own.group_by("environment", "partition").len().rows()
        assert {(name, place) for name, place, _ in found} == places
        assert len({count for *_, count in found}) == 1
    # what a launch asked for, and where its ranks were
    for path in results.glob("sessions/**/lines.jsonl"):
        header = json.loads(path.read_text("utf-8").splitlines()[0])
        hosts = {process["host"] for process in header["processes"]}
        assert len(hosts) == {"2": 1, "1": 2}[header["labels"]["ranks_per_node"]]
    samples = pl.read_parquet(results / "samples.parquet")
    maps = samples.filter(pl.col("metric") == "map_checksum").join(
        cells.select("environment", "partition", "test", "cell", "labels"),
        on=["environment", "partition", "test", "cell"],
    )
    of_map = pl.col("labels").str.json_decode(
        pl.Struct({"sides": pl.String, "largest_bytes": pl.String})
    )
    by_map = maps.with_columns(of_map.alias("map")).unnest("map").group_by("sides", "largest_bytes")
    assert by_map.agg(pl.col("value").n_unique())["value"].unique().to_list() == [1]
    page = (results / "report" / "llnl.html").read_text("utf-8")
    assert "mpich-5.0.2 (network)" in page
