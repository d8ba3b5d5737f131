"""A campaign on several partitions shows them side by side and pools none with another."""

from dataclasses import replace

import polars as pl
import pytest
import synthetic

from onesided.analyse import analyse
from onesided.report.cells import apart
from onesided.report.counter import headline, terminal_lines
from onesided.report.counter.tables import price
from onesided.report.frame import load

#: How much longer an access takes on the second partition, which is otherwise the first again.
LONGER = 10.0


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = synthetic.campaign(tmp_path_factory.mktemp("two"))
    for name in ("cells", "samples", "launches"):
        path = folder / f"{name}.parquet"
        here = pl.read_parquet(path)
        there = here.with_columns(pl.lit("network").alias("partition"))
        if name == "samples":
            slower = pl.when(pl.col("metric") == "access").then(LONGER).otherwise(1.0)
            there = there.with_columns(pl.col("value") * slower)
        pl.concat([here, there]).write_parquet(path)
    analyse(folder)
    return next(m for m in load(folder).materials() if m.experiment.kernel == "shared_counter")


def test_the_answer_has_a_row_for_each_environment_on_each_partition(material):
    names = {cell.environment for cell in material.cells}
    rows = [row["environment"] for row in headline(material).table.rows]
    assert sorted(rows) == sorted(f"{n} ({p})" for n in names for p in ("local", "network"))
    assert [line.partition(":")[0] for line in terminal_lines(material)] == rows


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
    (table,) = price(split).parts
    assert {row["environment"].rpartition(" ")[2] for row in table.rows} == {"(local)", "(network)"}


def test_one_partition_needs_no_name(material):

    one = replace(material, cells=[c for c in material.cells if c.partition == "local"])
    assert apart(one) is one
