"""The page of overlap: the efficiency of each launch, what overlaps, and the claims."""

from types import SimpleNamespace

import pytest
from made_up import overlap as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts, words

from onesided.measure.statistics import INTERVAL
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.cells import apart_by_cores
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.report.ratios import OPEN
from onesided.studies.redbook_threads.overlap import DOES_NOT, OVERLAPS, Overlaps, word_of


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return materials(made.campaign, tmp_path_factory.mktemp("overlap"))


@pytest.fixture(scope="module")
def overlap(both):
    return both["overlap"]


@pytest.fixture(scope="module")
def output(both):
    return both["overlapped_output"]


def named(material, name):
    (table,) = (one for one in parts(material, ByCores) if getattr(one, "name", "") == name)
    return table


def plain(text):
    return text.replace("\u202f", " ")


def test_the_efficiency_is_that_of_each_launch(overlap):
    table, *_ = parts(overlap, ByCores)
    found = {
        (row["transfer"], plain(str(row["size_bytes"])), row["peer"]): row for row in table.rows
    }
    assert len(found) == len(table.rows) == 14
    row = found["MPI_Put by a thread", "1 MiB", "sleeps"]
    for name in (MPICH, OPENMPI):
        # all launches have the same share of the longer time and of the sum: no noise is in the
        # ratios
        assert row[name].value == pytest.approx(0.9)
        assert row[name].launches == 6
        assert found["MPI_Isend", "16 MiB", "computes"][name].value == pytest.approx(0.05)


def test_the_answer_names_what_overlaps_and_counts_the_rest(overlap):
    (prose,) = parts(overlap, Overlaps)
    assert len(prose.sentences) == 2
    assert plain(prose.sentences[0]) == (
        f"{MPICH}: overlaps: MPI_Put by a thread, allocate (1 MiB, rank 0 sleeps: 0.90, 16 MiB, "
        "rank 0 sleeps: 0.90); each of the other 12 transfers does not overlap."
    )


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.51, 1.1, OVERLAPS),
        (-3.0, 0.49, DOES_NOT),
        (0.4, 0.6, OPEN),
        (0.5, 0.5, OPEN),
        # more than everything was hidden: the machine was busy during one of the three
        (0.9, 2.0, OPEN),
    ],
)
def test_an_interval_that_reaches_to_both_sides_or_beyond_one_is_open(low, high, word):
    assert word_of(Measure((low + high) / 2, low, high, 0.97, INTERVAL, 6)) == word


def test_the_figure_has_the_ways_that_were_run_in_each_size(overlap):
    (figure,) = parts(overlap, OnCores)
    rows = [row for row in figure.table.rows if row["panel"] == MPICH]
    found = {(row["series"], plain(row["label"])) for row in rows}
    ways = ("MPI_Isend", "MPI_Put, allocate")
    assert found == {(way, size) for way in ways for size in ("1 MiB", "16 MiB")}


def test_the_page_of_output_has_the_same_efficiencies(output):
    table = named(output, "overlapped_output")
    found = {(row["way"], row["until"], plain(str(row["size_bytes"]))): row for row in table.rows}
    assert len(found) == len(table.rows) == 16
    row = found["pwrite of a copy by thread 0", "on the device", "1 MiB"]
    assert row[MPICH].value == pytest.approx(0.9)
    (prose,) = parts(output, Overlaps)
    assert prose.title == "Which outputs overlap"
    assert plain(prose.sentences[0]).endswith("each of the other 24 outputs does not overlap.")


def test_output_beside_messages_has_a_table_of_what_both_take_over_the_longer(output):
    table = named(output, "output_beside_messages")
    found = {
        (row["way"], row["until"], plain(str(row["message_bytes"]))): row for row in table.rows
    }
    assert len(found) == len(table.rows) == 16
    row = found["pwrite, then compute", "on the device", "4 KiB"]
    both_s = made.ALONE_S + made.COMPUTE_S - 0.3 * made.COMPUTE_S
    assert row[MPICH].value == pytest.approx(both_s / made.ALONE_S)


def test_claims_hold_where_the_source_is_right(overlap, output):
    assert words(overlap) == [HOLDS] * 4
    assert words(output) == [HOLDS] * 8


def test_claims_do_not_hold_where_it_is_wrong(tmp_path):
    own = materials(made.campaign, tmp_path, hidden=made.reversed_efficiencies)
    assert words(own["overlap"]) == [DOES_NOT_HOLD] * 4
    assert words(own["overlapped_output"]) == [DOES_NOT_HOLD] * 8


def cell(transfer, peer, setting, crowded):
    """Return a cell that differs in the number of threads that need a core."""
    place = {"system": "laptop", "partition": "node", "ranks": 2, "setting": setting}
    labels = {"transfer": transfer, "peer": peer}
    return Cell({**place, "labels": labels, "oversubscribed": crowded})


def test_threads_of_a_transfer_or_of_a_library_take_no_other_cell_with_them():
    few = [
        cell("put", "in_mpi", "default", False),
        cell("thread_put", "sleeps", "default", False),
    ]
    many = [
        cell("thread_put", "in_mpi", "default", True),
        cell("put", "in_mpi", "async_thread", True),
        cell("put", "in_mpi", "async_thread", None),
    ]
    material = SimpleNamespace(cells=[*few, *many])
    assert apart_by_cores(material, material.cells) == (few, many)
