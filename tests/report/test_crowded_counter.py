"""With fewer cores than ranks, one rank may take every number of the shared counter."""

import polars as pl
import pytest
from made_up import counter

from onesided.measure.analyse import analyse
from onesided.report.material import load
from onesided.studies import find
from onesided.studies.stfc.shared_counter import EXPERIMENT
from onesided.studies.stfc.shared_counter.analysis import TARGET_RANK
from onesided.studies.stfc.shared_counter.answer import answer_row, families, heard


@pytest.fixture
def material(tmp_path):
    """A campaign whose target got no number in any cell, so it had nothing to compute."""
    counter.campaign(tmp_path, environments=counter.ENVIRONMENTS[:1])
    analyse(tmp_path, find())
    samples = pl.read_parquet(tmp_path / "samples.parquet")
    of_target = (pl.col("metric") == "compute") & (pl.col("rank") == TARGET_RANK)
    assert samples.filter(of_target).height > 0
    samples.filter(~of_target).write_parquet(tmp_path / "samples.parquet")
    (made,) = load(tmp_path, find()).materials()
    return made


def test_without_a_compute_no_access_is_the_longest_beside_one(material):
    (environment,) = material.environments
    row = answer_row(material, environment, heard(material, families(material.cells)))
    assert row["access"] is None
    assert EXPERIMENT.page.headline(material) is not None
