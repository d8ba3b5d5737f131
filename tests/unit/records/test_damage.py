"""A damaged file is no verdict on an MPI: it is refused by name, line and number."""

import json

import pytest
from synthetic_lines import CELLS, header, result, started

from onesided.campaign import outcomes, records
from onesided.system.errors import InputError

from .conftest import EXPECTED, FINISHED, WHOLE, ended, hang, statuses


def test_a_number_that_is_none_is_refused_by_line_and_not_taken_for_a_cut_line(launch):
    whole = json.dumps(result("c=1"))
    for number in ("NaN", "-Infinity", "1e400", "9" * 25):
        line = whole.replace("1e-06", number)
        with pytest.raises(InputError, match=r"lines\.jsonl: line 3: series\.0\.samples\.0: found"):
            launch([header(), started("c=1")], ended(), f"{line}\n")


def test_every_sample_is_a_number_not_only_the_first(launch):
    odd = result("c=1")
    odd["series"][0]["samples"] = [1e-6, "2e-6"]
    with pytest.raises(InputError, match=r"line 2: series\.0\.samples: found '2e-6'"):
        launch([header(), odd], ended())


def test_a_whole_number_may_be_written_with_a_point(launch):
    text = json.dumps(result("c=1")).replace('"rank": 1,', '"rank": 1.0,')
    read = launch([header()], ended(), f"{text}\n")
    assert repr(read.results["c=1"]["series"][0]["rank"]) == "1"


def test_a_key_twice_in_a_line_is_refused(launch):
    line = json.dumps(started("c=1")).replace("{", '{"cell": "c=2", ', 1)
    with pytest.raises(InputError, match="line 2: found key 'cell' given twice"):
        launch([header()], ended(), f"{line}\n")


def test_without_a_header_above_it_no_cell_counts_for_nobody_knows_which_mpi_ran(launch):
    read = launch([result("c=1"), header()], ended(finished=False))
    assert statuses(read) == ["not_run"] * 3
    said = "damaged file lines.jsonl: line 1 is a result line with no header line above it"
    assert {one.detail for one in outcomes.of_cells(read, CELLS, EXPECTED).values()} == {said}


ONE, TWO, THREE = ([started(cell), result(cell)] for cell in CELLS)
ANOTHER = {**result("c=2"), "index": 0}
CUT = object()
"""A line without its end, followed by other lines."""
NOT_MEASURED = {
    "cut": ([header(), *ONE, TWO[0], CUT, *THREE, FINISHED], {"c=2": "line 5 is cut"}),
    "lost": (
        [header(), *ONE, TWO[0], *THREE, FINISHED],
        {"c=2": "line 5 begins another cell, and the result of this cell is missing"},
    ),
    "lost at the end": (
        [header(), *ONE, *TWO, THREE[0], FINISHED],
        {"c=3": "line 7 ends the launch, and the result of this cell is missing"},
    ),
    "doubled": (
        [header(), *ONE, *TWO, TWO[1], *THREE, FINISHED],
        {"c=2": "line 6 is a second result line of a cell that has a result"},
    ),
    "run twice": (
        [header(), *ONE, *TWO, *THREE, *ONE, FINISHED],
        {"c=1": "line 8 is a second started line of a cell that has a result"},
    ),
    "out of order": (
        [header(), *ONE, *reversed(TWO), *THREE, FINISHED],
        {"c=2": "line 4 is a result with no started line above it"},
    ),
    "cut without a cell": (
        [header(), *ONE, CUT, *TWO, *THREE, FINISHED],
        dict.fromkeys(CELLS, "line 4 is cut"),
    ),
    "of another launch": (
        [header(), *ONE, TWO[0], ANOTHER, *THREE, FINISHED],
        dict.fromkeys(CELLS, "line 5 has index 0 for c=2: another launch's"),
    ),
    "of another kernel": (
        [header(), *ONE, *TWO, *THREE, header(kernel="progress"), FINISHED],
        dict.fromkeys(CELLS, "line 8 is a header line of progress after one of shared_counter"),
    ),
    "header doubled": (
        [header(), header(), *ONE, *TWO, *THREE, FINISHED],
        dict.fromkeys(CELLS, "the file has 2 header lines, by the record of the launches 0 to 1"),
    ),
    "end lost": (
        [header(), *ONE, *TWO, *THREE],
        dict.fromkeys(CELLS, "the file has 0 finished lines, by the record of the launches 1"),
    ),
}


@pytest.mark.parametrize(("lines", "damaged"), NOT_MEASURED.values(), ids=NOT_MEASURED)
def test_a_damaged_file_is_no_verdict_on_an_mpi(tmp_path, lines, damaged):
    cut = json.dumps(result("c=2"))[:-20]
    text = "".join((cut if line is CUT else json.dumps(line)) + "\n" for line in lines)
    (tmp_path / "lines.jsonl").write_text(text)
    (tmp_path / "launches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ended()))
    read = records.read_launch(tmp_path / "lines.jsonl", tmp_path / "launches.jsonl")
    found = outcomes.of_cells(read, CELLS, EXPECTED)
    bad = {cell: one for cell, one in found.items() if one.status != "ok"}
    assert {one.status for one in bad.values()} == {"not_run"}
    assert {cell: one.detail for cell, one in bad.items()} == {
        cell: f"damaged file lines.jsonl: {what}" for cell, what in damaged.items()
    }


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([header(), *ONE, *TWO, THREE[0]], outcomes.NO_RESULT),
        ([header(), *ONE, *TWO], outcomes.NO_LINE),
    ],
    ids=["begun", "never begun"],
)
def test_a_result_that_is_missing_beside_an_exit_status_of_0_is_damage(launch, lines, reason):
    read = launch(lines, ended(finished=False))
    assert statuses(read) == ["ok", "ok", "not_run"]
    assert outcomes.of_cells(read, CELLS, EXPECTED)["c=3"].detail == reason


def test_a_last_line_that_is_cut_is_damage_only_beside_an_exit_status_of_0(launch):
    lines, cut = [header(), *ONE, *TWO, THREE[0]], json.dumps(THREE[1])[:-20]
    assert statuses(launch(lines, ended(exit_status=9, finished=False), cut))[2] == "crash"
    assert statuses(launch(lines, ended(finished=False), cut))[2] == "not_run"


def test_an_interrupted_record_does_not_tell_whether_the_last_line_belongs_there(launch):
    begun = ended()[:1]
    assert launch([*WHOLE, FINISHED], begun).damage == {}


@pytest.mark.parametrize(
    ("unit", "sample", "expected"),
    [
        ("s", -5.0, "a time of 0 or more"),
        ("1", -1.0, "a ratio of 0 or more"),
        ("count", -2, "a count of 0 or more, or -1"),
        ("count", 1.5, "a count of 0 or more, or -1"),
        ("flag", 2, "0 or 1"),
        ("flag", 0.5, "0 or 1"),
    ],
)
def test_a_number_out_of_its_range_is_refused_wherever_it_stands(launch, unit, sample, expected):
    line = result("c=1")
    line["series"][0] |= {"unit": unit, "samples": [1, None, sample]}
    words = f"line 3: series.0.samples: found {sample}; expected {expected}"
    with pytest.raises(InputError, match=words):
        launch([header(), started("c=1"), line], ended())


ERRORS = {"name": "sequence", "checked": 2, "errors": 3, "first_mismatch": None}
OF_RANK_2 = {**result("c=1")["series"][0], "rank": 2}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            [header(ranks=3, processes=header()["processes"])],
            "line 1: processes: found ranks 0, 1; expected each rank below 3 once",
        ),
        (
            [header(), started("c=1"), {**result("c=1"), "verification": [ERRORS]}],
            "line 3: verification.0.errors: found 3; expected at most 2, as checked",
        ),
        (
            [header(), started("c=1"), {**result("c=1"), "series": [OF_RANK_2]}],
            "line 3: series.0.rank: found 2; expected less than 2",
        ),
    ],
    ids=["ranks", "errors", "rank of a series"],
)
def test_numbers_that_contradict_others_are_refused(launch, lines, words):
    with pytest.raises(InputError, match=words):
        launch(lines, ended())


def test_a_difference_of_two_times_may_be_below_zero(launch):
    line = result("c=1")
    line["series"][0] |= {"metric": "remaining", "samples": [-1e-3]}
    assert launch([header(), started("c=1"), line], ended(finished=False)).damage == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exit_status": "0"}, "exit_status: found '0'; expected an exit status"),
        ({"end_s": None}, "end_s: found None; expected seconds since 1970"),
        ({"begin_s": 1e30}, "begin_s: found 1e\\+30; expected seconds since 1970"),
        ({"launch": 0}, "launch: found 0; expected the number of a launcher"),
        ({"type": "other"}, "type: found 'other'; expected launch_started or launch_ended"),
        ({"gave_up": True}, "gave_up: found an unknown key"),
    ],
)
def test_a_record_of_launches_that_does_not_fit_is_refused_by_line(launch, change, words):
    before, after = ended()
    with pytest.raises(InputError, match=rf"launches\.jsonl: line 2: {words}"):
        launch(WHOLE, [before, {**after, **change}])


def test_records_of_launches_of_earlier_versions_are_read(launch):
    before, after = ended(exit_status=-9)
    for name in ("given_up", "cells_begun"):
        del after[name]
    assert launch(WHOLE, [before, after]).attempts[0]["exit_status"] == -9


def test_what_was_given_up_without_a_cell_begun_is_not_run(launch):
    read = launch([header()], ended(exit_status=1, finished=False, given_up=True))
    assert statuses(read) == ["not_run"] * 3


def test_a_hang_of_a_cell_that_has_a_result_is_one(launch, hang_files):
    hang_files(hang(1, "access", "MPI_Win_unlock", 11))
    read = launch([header(), *ONE], ended(exit_status=5, finished=False))
    assert outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].status == "hang"


@pytest.mark.parametrize("asked", ["0", "two", "-1", "٣"])
def test_ranks_a_node_that_are_no_number_fail_every_cell(launch, asked):
    lines = [header(labels={"ranks_per_node": asked}), result("c=1")]
    outcome = outcomes.of_cells(launch(lines, ended()), CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "no number of ranks" in outcome.detail
