"""The claims of the shared counter report: the cells with its algorithm decide."""

import shutil

import polars as pl
import pytest
from made_up import counter
from made_up.generator import MPICH
from shown import materials

from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN

SOURCE = {"algorithms": ("mpi2_array", "fetch_and_op_flush"), "levels": ("multiple",)}


def claims_of(material):
    (one,) = (one for one in material.experiment.page.contents if isinstance(one, Claims))
    (table,) = one.parts(material)
    return {row["claim"]: (row[MPICH], row[f"why_{MPICH}"]) for row in table.rows}


def the_claim(found, beginning):
    (claim,) = (claim for claim in found if claim.startswith(beginning))
    return claim


def word(found, beginning):
    return found[the_claim(found, beginning)][0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A campaign with a core for each thread, and with the source's shortest compute."""
    made = tmp_path_factory.mktemp("counter")
    options = {"compute_ms": (10, 240), "ranks": (2, 4), "cores": 8, "rounds": 6}
    return counter.campaign(made, environments=counter.ENVIRONMENTS[:1], **SOURCE, **options)


@pytest.fixture(scope="module")
def as_it_is(folder):
    """Return the outcomes of the unchanged campaign."""
    return claims_of(materials(lambda own: None, folder)["shared_counter"])


def with_changed(folder, tmp_path, factor, cell, metrics=("access", "latency"), test=""):
    """Return the outcomes after the times of some cells are multiplied by a factor."""

    def changed(own):
        shutil.copytree(folder, own, dirs_exist_ok=True)
        samples = pl.read_parquet(own / "samples.parquet")
        is_meant = (
            pl.col("cell").str.contains(cell)
            & pl.col("metric").is_in(metrics)
            & pl.col("test").str.contains(test)
        )
        assert samples.filter(is_meant).height
        value = pl.when(is_meant).then(pl.col("value") * factor).otherwise(pl.col("value"))
        samples.with_columns(value.alias("value")).write_parquet(own / "samples.parquet")

    return claims_of(materials(changed, tmp_path)["shared_counter"])


#: A claim, its outcome with the unchanged campaign, and a change of cells that reverses the
#: outcome.
TURNED = [
    ("While process 0 is idle", HOLDS, 100, "case=target_idle"),
    ("An access completes while process 0", DOES_NOT_HOLD, 1e-4, "case=target_computes"),
    ("With four processes", DOES_NOT_HOLD, 20, "case=target_computes"),
    ("A further thread in MPI makes", DOES_NOT_HOLD, 1e-3, "case=helper_blocked"),
    ("With a further thread in MPI, comm", OPEN, 1e-3, "case=helper_blocked"),
    ("Without progress during a compute", DOES_NOT_HOLD, 1e-3, "case=target_idle"),
]


@pytest.mark.parametrize(("claim", "expected", "factor", "cell"), TURNED)
def test_a_changed_number_turns_a_claim(folder, as_it_is, tmp_path, claim, expected, factor, cell):
    other = DOES_NOT_HOLD if expected == HOLDS else HOLDS
    assert word(as_it_is, claim) == expected
    assert word(with_changed(folder, tmp_path, factor, cell), claim) == other


def test_the_degradation_of_most_mpis_is_near_2_if_an_access_takes_a_compute(folder, tmp_path):
    places = "computes of fixed length", "computes of random length"
    found = with_changed(folder, tmp_path, 1e-4, "case=target_computes")
    near = {claim: own for claim, own in found.items() if any(words in claim for words in places)}
    assert [own[0] for own in near.values()] == [DOES_NOT_HOLD] * 2
    assert all(own[1].startswith("1.00") for own in near.values())


def test_the_array_of_counts_grows_with_the_processes_and_an_atomic_operation_does_not(
    folder, tmp_path
):
    grown = with_changed(folder, tmp_path, 2, "algorithm=mpi2_array", ("latency",), "_4")
    assert word(grown, "The cost of an access to the array") == HOLDS
    assert word(grown, "The cost of one atomic") == HOLDS
    other = with_changed(folder, tmp_path / "other", 2, "fetch_and_op_flush", ("latency",), "_4")
    assert word(other, "The cost of an access to the array") == DOES_NOT_HOLD
    assert word(other, "The cost of one atomic") == DOES_NOT_HOLD


@pytest.mark.parametrize(("factor", "expected"), [(4, HOLDS), (40, DOES_NOT_HOLD)])
def test_an_access_from_another_node_is_compared_with_one_of_the_same_launch(
    folder, as_it_is, tmp_path, factor, expected
):
    beginning = "An access from another node"
    assert as_it_is[the_claim(as_it_is, beginning)] == (
        NOT_MEASURED,
        "not measured on several nodes",
    )

    def on_two_nodes(own):
        shutil.copytree(folder, own, dirs_exist_ok=True)
        cells = pl.read_parquet(own / "cells.parquet")
        nodes = pl.lit(2, pl.Int64).alias("nodes"), pl.lit("[0, 0, 1]").alias("rank_nodes")
        cells.with_columns(*nodes).write_parquet(own / "cells.parquet")
        samples = pl.read_parquet(own / "samples.parquet")
        remote = samples.filter(rank=1, metric="access").with_columns(
            rank=pl.lit(2, pl.Int64), value=pl.col("value") * factor
        )
        pl.concat([samples, remote]).write_parquet(own / "samples.parquet")

    found = claims_of(materials(on_two_nodes, tmp_path)["shared_counter"])
    assert word(found, beginning) == expected


def test_a_thread_without_a_core_decides_whether_it_runs_but_no_time(tmp_path):
    options = {"environments": counter.ENVIRONMENTS[:1], "rounds": 2, "cores": 2}
    found = claims_of(materials(counter.campaign, tmp_path, **SOURCE, **options)["shared_counter"])
    assert word(found, "The MPI has full multi-threading") == HOLDS
    assert word(found, "A further thread in MPI makes") == NOT_MEASURED
    assert "more threads than cores" in str(found)
