"""The pages of active accumulate and gather: who is ahead, who waits, and the claims."""

from types import SimpleNamespace

from made_up import active as made
from made_up.generator import MPICH, OPENMPI, Environment, always
from shown import materials, parts, words

from onesided.cells import verdicts
from onesided.report.by_cores import LEVEL, at_level
from onesided.report.cells import apart_by_cores
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS
from onesided.report.material import Cell
from onesided.report.parts import Table
from onesided.report.published import PublishedTable
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.kinds import Kinds


def test_who_is_ahead_is_told_by_size_and_by_elements(eight_cores):
    _, sizes = parts(eight_cores["active_accumulate"], Kinds)
    found = {(row["where"][:1], row["size_bytes"]): row[MPICH] for row in sizes.rows}
    assert set(found.values()) == {"MPI_Accumulate"}
    _, elements = parts(eight_cores["gather"], Kinds)
    found = {row["elements"]: row[MPICH] for row in elements.rows}
    assert found == {64: "a get each", 4096: "one get of a type"}


def test_claims_hold_where_the_source_is_right(eight_cores):
    assert words(eight_cores["active_accumulate"]) == [HOLDS] * 3
    assert words(eight_cores["gather"]) == [HOLDS] * 4
    (published,) = parts(eight_cores["gather"], PublishedTable)
    assert [row["ratio"] for row in published.rows] == ["17"]


def test_claims_do_not_hold_where_it_is_wrong(tmp_path):
    own = materials(made.campaign, tmp_path, times=made.reversed_times, cores=8)
    assert words(own["active_accumulate"])[2] == DOES_NOT_HOLD
    assert words(own["gather"])[:2] == [DOES_NOT_HOLD] * 2


def test_an_access_that_waits_does_not_complete_meanwhile(tmp_path):
    waiting = [Environment(name, name.partition("-")[0], waits=always) for name in (MPICH, OPENMPI)]
    own = materials(made.campaign, tmp_path, environments=waiting, cores=8)
    assert words(own["active_accumulate"])[:2] == [DOES_NOT_HOLD] * 2
    assert words(own["gather"])[2:] == [DOES_NOT_HOLD] * 2


def test_what_rank_0_serves_itself_is_synchronising(eight_cores):
    (table,) = (one for one in parts(eight_cores["gather"], Waits) if isinstance(one, Table))
    found = {(row["way"], row["ranks"]): row[MPICH] for row in table.rows}
    assert found["rank 0, packed in its own calls", 2] == verdicts.SYNCHRONISING
    assert found["a get each, one flush, create", 2] == verdicts.INDEPENDENT
    assert found["MPI_Rget each, MPI_Waitall, create", 2] == verdicts.WAITS


def test_a_server_thread_without_a_core_takes_no_other_cell_with_it():
    place = {"system": "laptop", "partition": "node", "ranks": 2, "setting": "default"}
    own, thread = (
        Cell({**place, "labels": {"way": way}, "oversubscribed": way == "server_thread"})
        for way in ("target_serves", "server_thread")
    )
    material = SimpleNamespace(cells=[own, thread])
    assert apart_by_cores(material, material.cells) == ([own], [thread])


def test_a_point_names_the_thread_level_where_threads_are_allowed():
    cell = Cell({"thread_level": "multiple", "labels": {}})
    assert LEVEL.value(cell) == "multiple"
    assert at_level("8 bytes", {LEVEL.name: LEVEL.value(cell)}) == "8 bytes (MPI_THREAD_MULTIPLE)"
    assert at_level("8 bytes", {LEVEL.name: "single"}) == "8 bytes"
