"""The shared counter in OpenSHMEM is beside the MPIs and spoils none of their tables."""

import pytest
from made_up import counter

from onesided.cells import verdicts
from onesided.measure.analyse import analyse
from onesided.report.material import load
from onesided.report.parts import Folded, Measure
from onesided.studies import find
from onesided.studies.stfc.shared_counter import EXPERIMENT

SHMEM = counter.OPENSHMEM.name


def material_of(folder, environments):
    counter.campaign(folder, environments=environments)
    analyse(folder, find())
    (material,) = load(folder, find()).materials()
    return material


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    environments = (*counter.ENVIRONMENTS[:2], counter.OPENSHMEM)
    return material_of(tmp_path_factory.mktemp("shmem"), environments)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return material_of(tmp_path_factory.mktemp("without"), counter.ENVIRONMENTS[:2])


def tables(material):
    parts = [part for section in EXPERIMENT.page.sections(material) for part in section.parts]
    parts = [part.part if isinstance(part, Folded) else part for part in parts]
    return {part.name: part for part in parts}


@pytest.fixture(scope="module")
def tables_with(material):
    return tables(material)


@pytest.fixture(scope="module")
def tables_without(without):
    return tables(without)


def test_table_1_has_openshmem_beside_the_mpis(tables_with):
    rows = tables_with["table1_measured"].rows
    (shmem,) = [row for row in rows if row["environment"] == SHMEM]
    assert shmem["with"] == "shmem_fetch_inc"
    assert isinstance(shmem["case1"], Measure) and isinstance(shmem["case2"], Measure)
    assert shmem["case3"] is None
    # its thread level is its own: the MPIs keep their rows at their own highest level
    others = {row["environment"]: row["thread_level"] for row in rows if row is not shmem}
    assert others == dict.fromkeys(["mpich-5.0.2", "openmpi-5.0.11"], "multiple")


def test_a_case_whose_threads_share_cores_says_so_and_what_its_computes_took(tables_with):
    rows = [row for row in tables_with["table1_measured"].rows if row["environment"] != SHMEM]
    for row in rows:
        assert "more threads than cores (work: " in row["case3_steps"]
        assert "cores" not in str(row["case1_steps"])


def test_no_table_says_that_the_algorithms_of_another_interface_were_not_measured(material):
    (shmem,) = [
        r for r in EXPERIMENT.page.headline(material).table.rows if r["environment"] == SHMEM
    ]
    assert shmem["SHMEM_atomic_none"] == verdicts.INDEPENDENT
    assert verdicts.NOT_RUN not in shmem.values()
    assert not [key for key in shmem if key.startswith(("exclusive", "atomic"))]
    mpis = [r for r in EXPERIMENT.page.headline(material).table.rows if r["environment"] != SHMEM]
    assert all("SHMEM_atomic_none" not in row for row in mpis)
    said = " ".join(EXPERIMENT.page.terminal_lines(material))
    assert f"With an atomic operation of OpenSHMEM: completes in {SHMEM}." in said
    assert "not known" not in said
    assert "on none windows" not in said


def test_the_rows_of_the_mpis_are_the_same_with_and_without_it(
    tables_with, tables_without, without
):
    def first(found):
        rows = found["table1_measured"].rows
        names = ("environment", "with", "steps", "thread_level")
        return [tuple(row[n] for n in names) for row in rows if row["environment"] != SHMEM]

    assert first(tables_with) == first(tables_without)
    assert len(first(tables_without)) > 4
    columns = [column.title for column in EXPERIMENT.page.headline(without).table.columns]
    assert not any("SHMEM" in title for title in columns)


def test_its_accesses_are_in_the_probe_and_its_way_in_a_comparison_of_versions(
    material, tables_with, tables_without
):
    drawn = tables_with["access_against_remaining"]
    assert "no window" in drawn.specification and "SHMEM atomic" in drawn.specification
    assert "SHMEM atomic" not in tables_without["access_against_remaining"].specification
    assert ("Shared counter, shmem_fetch_inc", "none") in EXPERIMENT.page.way_rows(material.cells)
