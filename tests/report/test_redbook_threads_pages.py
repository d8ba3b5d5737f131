"""The pages of threaded calls and of matrix and vector: gains and costs of threads; the claims."""

from types import SimpleNamespace

import pytest
from made_up import threads as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts, words

from onesided.report.by_cores import ByCores, ByRanks
from onesided.report.cells import CrowdedCells, what_crowds
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.material import Cell
from onesided.report.parts import Folded, Prose, Table
from onesided.report.published import PublishedTable
from onesided.report.ratios import Ratios
from onesided.studies.redbook_threads.matrix_vector import Speedups
from onesided.studies.redbook_threads.streams import LevelCosts


def test_each_level_is_over_the_lowest_and_the_dearest_is_said(two_cores):
    prose, table = parts(two_cores["threaded_calls"], LevelCosts)
    assert [row["environment"] for row in table.rows] == [MPICH] * 8 + [OPENMPI] * 8
    for row in table.rows:
        for level, factor in made.LEVELS.items():
            if level != "single":
                assert row[level].value == pytest.approx(factor, rel=0.02)
                assert row[level].launches == 6
    assert prose.sentences[0].startswith(f"{MPICH}: 8 of 8 kinds of messages take longer")


def test_what_several_streams_gain_is_a_ratio_of_rates_at_one_level(eight_cores):
    (table,) = parts(eight_cores["threaded_calls"], Ratios)
    found = {
        (row["question"], row["direction"]): row[MPICH].value
        for row in table.rows
        if row["size_bytes"] == 8 and row["interface"].startswith("put")
    }
    gains, multiple = made.GAINS, made.LEVELS["multiple"]
    expected = {
        ("Several threads over one, one for all", "one way"): gains["one_for_all"],
        ("Several threads over one, one each", "one way"): gains["one_each"],
        ("Threads with one each over threads with one for all", "one way"): 1.75 / 1.5,
        ("Threads with one each over as many pairs of processes", "one way"): 1.75 / 2 / multiple,
        ("Several threads over one, one for all", "both ways"): 1.0,
        ("Several threads over one, one each", "both ways"): 1.0,
        ("Threads with one each over threads with one for all", "both ways"): 1.0,
        ("Threads with one each over as many pairs of processes", "both ways"): 1 / multiple,
    }
    assert found == {key: pytest.approx(value, rel=0.02) for key, value in expected.items()}


def test_without_cores_for_several_streams_their_rates_are_folded_and_no_ratio_is_shown(two_cores):
    (said,) = parts(two_cores["threaded_calls"], Ratios)
    assert isinstance(said, Prose)
    shown, folded, of_processes, many_processes = parts(two_cores["threaded_calls"], ByCores)
    for table, further, summary in (
        (shown, folded, "More threads than cores"),
        (of_processes, many_processes, "More ranks than cores"),
    ):
        assert isinstance(table, Table)
        assert {row["streams"] for row in table.rows} == {1}
        assert isinstance(further, Folded)
        assert further.summary == summary
        assert {row["streams"] for row in further.part.rows} == {2}
    both = [row for row in shown.rows if row["direction"] == "both ways"]
    assert len(both) == len(shown.rows) / 2
    # two messages in the time of one
    assert both[0][MPICH].value == pytest.approx(
        2 / made.UNIT_S / made.LEVELS["multiple"], rel=0.02
    )


def test_printed_speed_ups_are_beside_todays_and_the_suspect_one_is_marked(two_cores):
    material = two_cores["matrix_vector"]
    tables = parts(material, PublishedTable)
    assert [table.rows[2]["threads_2"] for table in tables[:2]] == ["33", "18"]
    (table,) = parts(material, Speedups)
    found = {(row["way"][:9], row["tasks"], row["threads"]): row for row in table.rows}
    assert len(found) == len(table.rows) == 27
    assert found["Example 1", 1, 8]["published"] == pytest.approx(218 / 173)
    assert found["Example 2", 8, 2]["published"] == pytest.approx(207 / 16)
    assert [key for key, row in found.items() if row.get("mark")] == [("Example 2", 4, 2)]
    assert table.notes[0][0] == found["Example 2", 4, 2]["mark"]
    # the source's own speed-ups of a program with threads only follow from its times
    printed = {threads: found["Table 23:", 1, threads]["published"] for threads in (2, 4, 8)}
    (rays,) = [table.part for table in tables[2:]]
    assert {int(row["threads"]): float(row["speedup"]) for row in rays.rows[1:]} == pytest.approx(
        printed, abs=0.005
    )
    measured = {key: row[MPICH].value for key, row in found.items() if MPICH in row}
    assert measured == {
        ("Example 1", 1, 2): pytest.approx(1.25, rel=0.02),
        ("Example 1", 2, 1): pytest.approx(made.TASKS, rel=0.02),
        ("Example 2", 1, 2): pytest.approx(1.8, rel=0.02),
        ("Example 2", 2, 1): pytest.approx(made.TASKS, rel=0.02),
    }


def test_the_time_over_tasks_is_below_the_sources_for_each_way_to_share(eight_cores):
    figures = parts(eight_cores["matrix_vector"], ByRanks)
    names = [f"matrix_vector_{way}_ranks" for way in ("rows", "columns")]
    assert [one.name for one in figures] == [
        f"{name}_{which}" for name in names for which in ("published", "measured")
    ]
    then, now = figures[:2]
    drawn = {(row["series"], str(row["ranks"])): row["shown"] for row in then.table.rows}
    assert (drawn["1 thread", "8"], drawn["2 threads", "4"]) == (31, 33)
    assert drawn["4 threads", "8"] == "N/A"
    assert {row["series"] for row in now.table.rows} >= {"1 thread", "2 threads"}


def test_claims_hold_where_the_source_is_right(two_cores, eight_cores):
    assert words(eight_cores["threaded_calls"]) == [HOLDS] * 3
    assert words(eight_cores["matrix_vector"]) == [HOLDS] * 9
    on_two = words(two_cores["matrix_vector"])
    assert on_two == [HOLDS] * 3 + [NOT_MEASURED] * 2 + [HOLDS] * 4


def test_no_claim_rests_on_more_threads_than_cores(two_cores):
    assert set(words(two_cores["threaded_calls"])) == {NOT_MEASURED}
    for material in two_cores.values():
        (claims,) = parts(material, Claims)
        why = {row[f"why_{MPICH}"] for row in claims.rows if row[MPICH] == NOT_MEASURED}
        assert why == {"more threads than cores"}


def test_claims_do_not_hold_where_it_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(made, "SHARE", 0.5)
    own = materials(made.campaign, tmp_path, times=made.reversed_times, cores=8)
    assert words(own["threaded_calls"]) == [DOES_NOT_HOLD] * 3
    assert words(own["matrix_vector"]) == [DOES_NOT_HOLD] * 9


def cell(ranks, threads, crowded, environment="a"):
    place = {"system": "laptop", "partition": "node", "environment": environment, "setting": None}
    labels = {"workers": str(threads)}
    return Cell({**place, "ranks": ranks, "labels": labels, "oversubscribed": crowded})


def test_a_cell_that_was_not_run_is_where_that_of_another_mpi_is_then_where_its_ranks_are():
    many, few = cell(2, 2, True), cell(2, 1, False)
    unknown = [cell(2, 2, None, "b"), cell(2, 1, None, "b"), cell(4, 1, None)]
    cells = [many, few, *unknown, cell(4, 2, True)]
    crowded = CrowdedCells.of(SimpleNamespace(cells=cells))
    assert [one in crowded for one in cells] == [True, False, True, False, True, True]


def test_what_there_is_more_of_than_cores_is_threads_where_as_many_ranks_had_enough():
    assert what_crowds([cell(2, 1, False)], [cell(2, 2, True)]) == "more threads than cores"
    assert what_crowds([cell(2, 1, False)], [cell(4, 1, True)]) == "more ranks than cores"
