"""The pages of parallel input and output and of remote reads: answers, bandwidths, claims."""

import pytest
from made_up import files as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts, words

from onesided.report.by_cores import ByCores, Fold
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED
from onesided.report.numbers import DASH
from onesided.report.parts import Prose, Table
from onesided.report.ratios import Ratios
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook_threads.files import FileSystems, name_of
from onesided.studies.redbook_threads.parallel_io import RequestCosts, latency_and_bandwidth


def test_claims_hold_where_the_source_is_right(two_cores):
    assert words(two_cores["parallel_io"]) == [HOLDS] * 7
    assert words(two_cores["remote_read"]) == [HOLDS] * 4


def test_claims_do_not_hold_where_it_is_wrong(tmp_path):
    own = materials(made.campaign, tmp_path, times=made.reversed_times)
    assert words(own["parallel_io"]) == [DOES_NOT_HOLD] * 7
    assert words(own["remote_read"]) == [DOES_NOT_HOLD] * 4


def test_no_claim_rests_on_more_ranks_than_cores(tmp_path):
    own = materials(made.campaign, tmp_path, cores=1)
    assert set(words(own["parallel_io"]) + words(own["remote_read"])) == {NOT_MEASURED}
    assert parts(own["remote_read"], Ratios) == []


def test_the_bandwidth_is_the_whole_cube_over_the_slowest_rank(two_cores):
    (table,) = parts(two_cores["parallel_io"], ByCores)
    heads = ("direction", "blocks", "storage")
    found = {tuple(row[name] for name in (*heads, "way")): row[MPICH] for row in table.rows}
    assert len(found) == 56
    unit = 4 * 64**3 / made.UNIT_S
    written = found["write", "many short runs", "disk", "a system call a run"]
    assert written.value == pytest.approx(unit / 4, rel=0.02)
    read = found["read", "many short runs", "disk", "a system call a run"]
    assert read.value == pytest.approx(unit / 2, rel=0.02)


def test_what_opening_and_the_device_take_is_apart(two_cores):
    folded = parts(two_cores["parallel_io"], Fold)
    for table, units in zip((one.part for one in folded), (made.OPEN, made.DEVICE), strict=True):
        assert len(table.rows) == 14
        assert table.rows[0][MPICH].value == pytest.approx(units * made.UNIT_S, rel=0.02)


def test_the_answer_names_the_fastest_way_at_each_point(two_cores):
    said, table = parts(two_cores["parallel_io"], Kinds)
    assert isinstance(said, Prose)
    found = {(row["direction"], row["blocks"], row["storage"]): row[MPICH] for row in table.rows}
    assert found["write", "many short runs", "disk"] == "a collective call"
    assert found["read", "one long run", "tmpfs"] == "a system call a run"
    # separate files are no way to write one file
    assert "a file a rank" not in found.values()
    _, table = parts(two_cores["remote_read"], Kinds)
    assert {row[MPICH] for row in table.rows if row["cache"] == "warm"} == {ONE_SIDED}
    assert {row[MPICH] for row in table.rows if row["cache"] == DASH} == {TWO_SIDED}


def test_near_is_what_takes_at_most_a_quarter_longer(two_cores):
    said, table = parts(two_cores["remote_read"], Ratios)
    assert said.sentences[0] == (
        f"{MPICH}: cold, near at 16.4\u202fkB, 65.5\u202fkB and 1.05\u202fMB; "
        "warm, near at no size; written, near at no size."
    )
    found = {(row["cache"], row["size"]): row[MPICH].value for row in table.rows}
    cold = made.COLD_BYTE * 512
    assert found["cold", 512] == pytest.approx((made.ASKING + cold) / cold, rel=0.03)
    written = made.WARM_BYTE * 1048576
    expected = (made.ASKING + written) / written
    assert found["written", 1048576] == pytest.approx(expected, rel=0.03)


def test_what_a_request_and_a_byte_take_is_found_again_with_an_interval(tmp_path):
    own = materials(made.campaign, tmp_path, times=made.as_equation_6_3)
    (table,) = parts(own["parallel_io"], RequestCosts)
    found = {(row["environment"], row["direction"], row["storage"]): row for row in table.rows}
    assert len(found) == len(table.rows) == 2 * 2 * 2
    assert found[MPICH, "write", "disk"]["points"] == 3
    for (name, _, _), row in found.items():
        factor = {MPICH: 1, OPENMPI: 2}[name]
        assert row["latency"].value == pytest.approx(factor * made.REQUEST_S, rel=0.02)
        assert row["bandwidth"].value == pytest.approx(1 / (factor * made.BYTE_S), rel=0.02)
        assert row["latency"].low <= row["latency"].value <= row["latency"].high
        assert row["latency"].launches == 6


@pytest.mark.parametrize(
    ("points", "found"),
    [
        ([(1, 100, 1 + 50), (10, 100, 10 + 50)], (1, 2, 1)),
        ([(1, 100, 1 + 50), (10, 100, 10 + 50), (4, 400, 4 + 200)], (1, 2, 1)),
        # one point, points of the same proportion, and more requests that take less time
        ([(1, 100, 51)], None),
        ([(1, 100, 51), (2, 200, 102)], None),
        ([(1, 100, 51), (10, 100, 20)], None),
    ],
)
def test_a_fit_needs_points_that_tell_latency_and_bandwidth_apart(points, found):
    fitted = latency_and_bandwidth(points)
    assert fitted is None if found is None else fitted == pytest.approx(found)


def test_how_far_times_are_from_the_equation_is_said():
    *_, farthest = latency_and_bandwidth([(1, 100, 51), (10, 100, 60), (4, 100, 1.5 * 54)])
    assert 1.2 < farthest < 2


def test_the_file_systems_that_were_found_are_named(two_cores):
    (table,) = parts(two_cores["parallel_io"], FileSystems)
    assert isinstance(table, Table)
    assert [(row["storage"], row[MPICH]) for row in table.rows] == [
        ("disk", "ext4"),
        ("tmpfs", "tmpfs"),
    ]
    (table,) = parts(two_cores["remote_read"], FileSystems)
    assert [(row["cache"], row[OPENMPI]) for row in table.rows] == [
        ("warm", "ext4, 100\u202f% in memory"),
        ("cold", "ext4, 0\u202f% in memory"),
        (DASH, "ext4"),
    ]
    assert name_of(1.0) == "0x1"
