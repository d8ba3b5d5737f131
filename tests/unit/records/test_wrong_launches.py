"""A launch of another library, world, placement or source counts for nothing."""

from dataclasses import replace

import pytest
from synthetic_lines import CELLS, header, result

from onesided.campaign import outcomes
from onesided.system.errors import InputError

from .conftest import EXPECTED, FINISHED, WHOLE, ended, statuses


def test_the_same_version_from_another_folder_counts_for_nothing_and_both_are_named(launch):
    elsewhere = {**header()["mpi"], "library_path": "/usr/lib/libmpi.so.12"}
    read = launch([header(mpi=elsewhere), *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "/usr/lib/libmpi.so.12" in outcome.detail
    assert "mpich-5.0.2 (MPICH Version: 5.0.2) in /opt/mpich" in outcome.detail


def test_a_library_reached_by_links_is_in_its_folder(launch, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    linked = {**header()["mpi"], "library_path": str(tmp_path / "link" / "libmpi.so")}
    read = launch([header(mpi=linked), *WHOLE[1:], FINISHED], ended())
    expected = replace(EXPECTED, prefix=str(tmp_path / "real"))
    assert outcomes.of_cells(read, CELLS, expected)["c=1"].status == "ok"


def test_another_library_than_the_environments_counts_for_nothing_and_both_are_named(launch):
    wrong = header(mpi={**header()["mpi"], "library_version": "MPICH Version: 4.0.3"})
    read = launch([wrong, *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "4.0.3" in outcome.detail
    assert "mpich-5.0.2 (MPICH Version: 5.0.2)" in outcome.detail


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ranks": 3}, "ranks"),
        ({"placement": {"asked": "unbound", "found": "core"}}, "placement"),
    ],
)
def test_a_world_or_placement_that_was_not_asked_for_counts_for_nothing(launch, change, word):
    read = launch([header(**change), *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert word in outcome.detail


def test_where_a_launcher_has_no_option_for_a_placement_each_one_counts(launch):
    asked_for_none = header(placement={"asked": "launcher", "found": "core"})
    found = statuses(launch([asked_for_none, *WHOLE[1:], FINISHED], ended()))
    assert found == statuses(launch([*WHOLE, FINISHED], ended()))


def test_kernels_of_other_sources_count_for_nothing(launch):
    expected = replace(EXPECTED, source_state="def")
    assert statuses(launch([*WHOLE, FINISHED], ended()), expected) == ["unavailable"] * 3


def test_lines_of_another_schema_version_are_refused_by_name(launch):
    with pytest.raises(InputError) as caught:
        launch([header(schema="onesided/line/1")], ended())
    assert "lines.jsonl: line 1: schema" in str(caught.value)
    assert "expected onesided/line/2: measure again" in str(caught.value)


def test_a_result_without_a_field_is_refused_by_name(launch):
    line = result("c=1")
    del line["verification"]
    with pytest.raises(InputError, match="verification"):
        launch([header(), line], ended())


def on(*hosts):
    return [
        {"rank": rank, "host": host, "pid": 1, "cpus": [0, 1], "local_rank": 0}
        for rank, host in enumerate(hosts)
    ]


@pytest.mark.parametrize(
    ("asked", "hosts", "fault"),
    [
        ("2", ("n1", "n1"), None),
        ("1", ("n1", "n2"), None),
        ("1", ("n1", "n1"), "1 ranks a node on 2 nodes asked for, 2 on n1 found"),
        ("2", ("n1", "n2"), "2 ranks a node on 1 node asked for, 1 on n1, 1 on n2 found"),
    ],
)
def test_ranks_that_stand_on_other_nodes_than_asked_for_fail_every_cell(
    launch, asked, hosts, fault
):
    told = header(labels={"ranks_per_node": asked}, processes=on(*hosts))
    read = launch([told, *WHOLE[1:], FINISHED], ended())
    found = outcomes.of_cells(read, CELLS, EXPECTED)
    assert {one.detail for one in found.values()} == {fault}
    assert {one.status for one in found.values()} == {"unavailable" if fault else "ok"}


def test_as_many_nodes_as_asked_for_are_not_enough_where_one_is_crowded(launch):
    told = header(ranks=4, labels={"ranks_per_node": "2"}, processes=on("n1", "n1", "n1", "n2"))
    expected = replace(EXPECTED, ranks=4)
    read = launch([told, *WHOLE[1:], FINISHED], ended())
    details = {one.detail for one in outcomes.of_cells(read, CELLS, expected).values()}
    assert details == {"2 ranks a node on 2 nodes asked for, 3 on n1, 1 on n2 found"}
