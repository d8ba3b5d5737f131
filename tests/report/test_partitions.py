"""A campaign on several partitions shows them side by side and never pools partitions."""

import csv
from dataclasses import replace

import polars as pl
import pytest
from made_up import counter, progress

from onesided import report
from onesided.measure.analyse import analyse
from onesided.report.cells import apart
from onesided.report.material import load
from onesided.studies import find
from onesided.studies.stfc.shared_counter import EXPERIMENT
from onesided.studies.stfc.shared_counter.tables import latency

#: The factor of access times on the second partition, which otherwise equals the first.
LONGER = 10.0


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = counter.campaign(tmp_path_factory.mktemp("two"))
    for name in ("cells", "samples", "launches"):
        path = folder / f"{name}.parquet"
        here = pl.read_parquet(path)
        there = here.with_columns(pl.lit("network").alias("partition"))
        if name == "samples":
            slower = pl.when(pl.col("metric") == "access").then(LONGER).otherwise(1.0)
            there = there.with_columns(pl.col("value") * slower)
        pl.concat([here, there]).write_parquet(path)
    analyse(folder, find())
    return next(
        m for m in load(folder, find()).materials() if m.experiment.kernel == "shared_counter"
    )


def test_the_answer_has_a_row_for_each_environment_on_each_partition(material):
    names = {cell.environment for cell in material.cells}
    rows = [row["environment"] for row in EXPERIMENT.page.headline(material).table.rows]
    assert sorted(rows) == sorted(f"{n} ({p})" for n in names for p in ("local", "network"))
    said = " ".join(EXPERIMENT.page.terminal_lines(material))
    assert "computes in all 6 combinations of MPI and partition." in said
    assert "Nothing was measured with <script>" in said


def test_values_stay_with_their_partition(material):

    split = apart(material)
    known = [cell for cell in split.cells if split.measure(cell, "access_mean", "rank_1")]
    value = {
        (cell.partition, cell.environment.partition(" (")[0], cell.test, cell.cell): split.measure(
            cell, "access_mean", "rank_1"
        ).value
        for cell in known
    }
    pairs = [(value[key], value["network", *key[1:]]) for key in value if key[0] == "local"]
    assert pairs
    assert all(there == pytest.approx(LONGER * here) for here, there in pairs)
    (table,) = latency(split).parts
    assert {row["environment"].rpartition(" ")[2] for row in table.rows} == {"(local)", "(network)"}


def test_one_partition_needs_no_name(material):

    one = replace(material, cells=[c for c in material.cells if c.partition == "local"])
    assert apart(one) is one


def waits_unless_helped(at, setting):
    """Behave like an MPI whose windows are not in shared memory."""
    return "delayed" if setting == "async_thread" else "waits"


@pytest.fixture(scope="module")
def progress_folder(tmp_path_factory):
    """Return a campaign: its MPIs are partly independent within a node, never across nodes."""
    within = [one for one in progress.ENVIRONMENTS if one.family in ("mpich", "openmpi")]
    across = [replace(one, behaviour=waits_unless_helped) for one in within]
    folder, other = (
        progress.campaign(
            tmp_path_factory.mktemp("place"), environments, levels=["single"], baseline=True
        )
        for environments in (within, across)
    )
    for name in ("cells", "samples", "launches"):
        path = folder / f"{name}.parquet"
        there = pl.read_parquet(other / path.name).with_columns(
            pl.lit("network").alias("partition")
        )
        pl.concat([pl.read_parquet(path), there]).write_parquet(path)
    analyse(folder, find())
    report.build(report.load(folder, find()), single_file=True)
    return folder


def table(folder, name):
    with (folder / "report" / f"{name}.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_answer_of_progress_speaks_of_each_partition(progress_folder):
    rows = {row["environment"]: row for row in table(progress_folder, "progress_answer")}
    assert set(rows) == {
        f"{name} ({place})"
        for name in ("mpich-5.0.2", "openmpi-5.0.11")
        for place in ("node", "network")
    }
    for name in ("mpich-5.0.2", "openmpi-5.0.11"):
        node, network = rows[f"{name} (node)"], rows[f"{name} (network)"]
        assert node["judged"] == network["judged"] == network["waits"] != "0"
        assert node["reading"] == "independent in part"
        assert network["reading"] == "consistent with weak progress"


def test_the_answer_and_what_helps_are_said_for_each_partition(progress_folder):
    said = report.terminal_summary(report.load(progress_folder, find()))
    every = "mpich-5.0.2 (node) and openmpi-5.0.11 (node) only"
    assert f"an access completes while the target computes in {every}." in said
    assert "or lock_all and flush_local: completes in openmpi-5.0.11 (node) only." in said
    assert "MPI_Win_create with each of the 3 synchronisations tested: completes in none." in said
    (line,) = [one for one in said.splitlines() if "Code that stays as it is" in one]
    assert "helps mpich-5.0.2 (node); " in line
    assert "helps mpich-5.0.2 (network)" in line


def test_latencies_and_their_baselines_stay_with_their_partition(progress_folder):
    rows = table(progress_folder, "progress_latency")
    places = {row["environment"].rpartition(" ")[2] for row in rows}
    assert places == {"(node)", "(network)"}
    with_baseline = [row for row in rows if row["over_baseline"]]
    assert {row["environment"] for row in with_baseline} == {row["environment"] for row in rows}
