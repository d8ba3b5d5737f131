"""The checks on a scheduler: jobs submitted by ReFrame to a Slurm whose nodes are namespaces."""

import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from virtual_cluster import VirtualCluster, missing

PARTITIONS = ["virtual_cluster:node", "virtual_cluster:network"]
SCRIPT = Path(__file__).with_name("virtual_cluster.py")


def living_daemons(folder):
    """Return the ids of processes with the cluster's folder in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if os.fsencode(folder) in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def assert_gone(folder):
    deadline = time.monotonic() + 10
    while living_daemons(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not living_daemons(folder)


def test_nodes_are_hosts_of_their_own_and_nothing_of_them_is_left(cluster):
    answer = cluster.run("srun", "-p", "network", "-N2", "-n2", "hostname")
    assert sorted(answer.stdout.split()) == ["n1", "n2"]
    answer = cluster.run("srun", "-p", "node", "-n2", "hostname")
    assert len(set(answer.stdout.split())) == 1
    assert living_daemons(cluster.folder)
    cluster.stop()
    assert not cluster.folder.exists()
    assert_gone(cluster.folder)


def test_four_nodes_come_up(monkeypatch):
    if missing():
        pytest.skip(missing())
    with VirtualCluster(nodes=4) as four:
        assert four.states() == dict.fromkeys(["n1", "n2", "n3", "n4"], "idle")


def test_a_cluster_dies_with_the_command_that_started_it():
    if missing():
        pytest.skip(missing())
    command = [sys.executable, SCRIPT, "--", "sh", "-c", "echo $SLURM_CONF; exec sleep 317"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        folder = Path(process.stdout.readline()).parent
        assert living_daemons(folder)
        process.kill()
        process.wait()
        assert_gone(folder)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def test_more_ranks_than_the_network_has_nodes_are_skipped_and_say_so(
    cluster, ready_environment, campaign_file, onesided, tmp_path
):
    ready_environment("mpich-5.0.2")
    select = {"tags": ["full"], "expression": "kernel == 'origin_threads' and ranks == 3"}
    onesided("run", campaign_file(site="virtual_cluster", partitions=PARTITIONS, select=select))
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells.filter(pl.col("partition") == "node")["status"]) == {"ok"}
    across = cells.filter(pl.col("partition") == "network")
    assert set(across["status"]) == {"unavailable"}
    reason = "3 ranks, 1 a node, want 3 nodes; virtual_cluster:network has 2"
    assert set(across["detail"]) == {reason}


def wait_for_a_launch(results, process):
    """Wait until a launch has begun on the nodes."""
    while process.poll() is None:
        if any(results.rglob("launches.jsonl")):
            return
        time.sleep(0.02)
    raise AssertionError("the campaign ended before a launch")


def test_a_lost_node_leaves_holes_and_a_rerun_fills_these_only(
    cluster, ready_environment, campaign_file, onesided, tmp_path
):
    ready_environment("mpich-5.0.2")
    path = campaign_file(site="virtual_cluster", partitions=PARTITIONS[::-1])
    results = tmp_path / "results" / "tiny"
    command = [sys.executable, "-m", "onesided.cli", "run", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        wait_for_a_launch(results, process)
        cluster.lose_node("n2")
        said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    cells = pl.read_parquet(results / "cells.parquet")
    across = cells.filter(pl.col("partition") == "network")
    assert set(cells.filter(pl.col("partition") == "node")["status"]) == {"ok"}
    assert "not_run" in set(across["status"])
    assert all(across.filter(pl.col("status") != "ok")["detail"])
    stood = {one: one.stat().st_mtime_ns for one in results.glob("sessions/*/*.node/**/*.jsonl")}

    cluster.start_node("n2")
    cluster.await_nodes()
    said = onesided("run", path).stdout
    assert "to be run again" in said
    again = pl.read_parquet(results / "cells.parquet")
    assert "not_run" not in set(again["status"])
    assert {one: one.stat().st_mtime_ns for one in stood} == stood
    assert set(again.filter(pl.col("partition") == "node")["attempt"]) == {1}
    assert 2 in set(again.filter(pl.col("partition") == "network")["attempt"])
