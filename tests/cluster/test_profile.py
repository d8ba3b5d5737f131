"""The profile of clusters: several jobs at the scheduler at a time, cancelled at the end."""

import signal
import subprocess
import sys
import time

import polars as pl

PARTITIONS = ["virtual_cluster:node"]


def jobs(cluster):
    return cluster.run("squeue", "--noheader", "--format=%i").stdout.split()


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_ended_campaign_takes_its_jobs_back_and_the_next_run_completes_it(
    cluster, ready_environment, campaign_file, onesided, tmp_path
):
    ready_environment("mpich-5.0.2")
    path = campaign_file(site="virtual_cluster", partitions=PARTITIONS, rounds=3)
    command = [sys.executable, "-m", "onesided.cli", "run", str(path), "--profile", "slurm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        # each of three sessions has a job at the scheduler, which has two nodes
        wait_until(lambda: len(jobs(cluster)) > 1, 240)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0].decode()
    assert process.returncode != 0, said
    wait_until(lambda: not jobs(cluster))
    onesided(*command[3:])
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert set(cells["round"]) == {1, 2, 3}
