"""A campaign on one of several cores ends, and reports that its cells are crowded."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest

from onesided.cells import verdicts
from onesided.system import cores

FEWER = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="these tests may use one core only"
)


@FEWER
@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["mpich-5.0.2", "openmpi-5.0.11"])
def test_a_campaign_on_one_of_several_cores_has_crowded_cells(
    mpi, ready_environment, campaign_file, tmp_path
):
    ready_environment(mpi)
    select = {"tags": ["smoke"], "expression": "thread_level == 'single'"}
    path = campaign_file(environments=[mpi], select=select)
    core = str(max(os.sched_getaffinity(0)))
    line = ["taskset", "-c", core, sys.executable, "-m", "onesided.cli", "run", str(path)]
    answer = subprocess.run(line, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr

    results = tmp_path / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    assert cells.height > 0
    assert cells["oversubscribed"].to_list() == [True] * cells.height
    assert set(cells["status"]) == {"ok"}, cells.select("cell", "status", "detail")
    judged = json.loads((results / "verdicts.json").read_text())["cells"]
    assert len(judged) == cells.height
    wrong = {*verdicts.FAILURES, *verdicts.NOT_MEASURED}
    assert wrong.isdisjoint(cell["verdict"] for cell in judged), judged
    assert all(cell["oversubscribed"] for cell in judged)
    host = json.loads((results / "campaign.json").read_text())["host"]
    assert (host["cores"], host["usable_cores"]) == (cores.existing(), 1)
    page = (results / "report" / "index.html").read_text()
    assert f"{cores.existing()} cores, of which 1 may be used" in page
