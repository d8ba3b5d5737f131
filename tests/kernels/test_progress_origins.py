"""Several origins of the kernel `progress`, and bystanders beside its target."""

from __future__ import annotations

import pytest

from onesided.system.documents import check

from .test_progress import A_SAMPLE_EACH, SHORT, must_be_checked
from .test_shared_counter import series

#: Few samples: with four ranks on two cores a barrier may take milliseconds.
FEW = (*SHORT, "--samples", "2", "--lengths-ms", "0,3", "--warm-up", "0", "--latency-samples", "1")
ACCESSES_OF_FEW = 2 * 2


@pytest.fixture(scope="module")
def several(progress):
    """Two origins and a bystander around one target, in every kind of epoch."""
    return progress.launch(
        *("--origins", "2", "--bystanders", "1", "--flavor", "allocate", *FEW),
        *("--cells", "operation=put;synchronisation=lock_exclusive,lock_all_flush,fence,pscw"),
        *("--cells", "operation=put,raccumulate;data=indexed;size_bytes=64;flavor=create"),
        *("--cells", "operation=get,fetch_and_op;synchronisation=lock_exclusive,fence"),
        *("--cells", "operation=compare_and_swap;flavor=dynamic;synchronisation=lock_all_flush"),
        ranks=4,
    )


def test_each_origin_has_its_own_data_and_series(several):
    assert several.code == 0, several.stderr
    assert len(several.results) == 4 + 4 + 4 + 1
    for cell, result in several.results.items():
        assert result["status"] == "ok", (cell, result["detail"])
        check(result, "line", several.output)
        # each rank's part counts: what both origins got, and what the target has for both
        checked = {item["name"]: item["checked"] for item in result["verification"]}
        assert checked == must_be_checked(cell, result, ACCESSES_OF_FEW, origins=2)
        assert not any(item["errors"] for item in result["verification"])
        for origin in (1, 2):
            found = {s["metric"]: s for s in result["series"] if s["rank"] == origin}
            assert found.keys() >= A_SAMPLE_EACH | {"latency"}, cell
            assert len(found["issue_stamp"]["samples"]) == 2 * 2
        assert series(result, "entry_stamp", 1) == series(result, "entry_stamp", 2)
        assert series(result, "issue_stamp", 1) != series(result, "issue_stamp", 2)


def test_a_bystander_computes_beside_the_target_and_accesses_nothing(several):
    for result in several.results.values():
        beside = {s["metric"]: s["samples"] for s in result["series"] if s["rank"] == 3}
        assert beside.keys() == {"bystander_entry_stamp", "bystander_exit_stamp"}
        rows = zip(
            series(result, "compute_requested", 1),
            series(result, "entry_stamp", 1),
            *beside.values(),
            strict=True,
        )
        for requested, target_entry, entry, exit_ in rows:
            assert entry >= target_entry - 1e-3
            assert exit_ - entry >= requested / 3  # shorter if calibrated on a busy core


def test_origins_stand_before_a_target_that_is_last(progress):
    run = progress.launch(
        *("--target", "last", "--origins", "2", "--operation", "get", "--flavor", "create", *FEW),
        *("--synchronisation", "lock_shared,pscw"),
        ranks=3,
    )
    assert run.code == 0, run.stderr
    for result in run.results.values():
        assert {s["rank"] for s in result["series"] if s["metric"] == "elapsed"} == {0, 1}
        checked = {item["name"]: item["checked"] for item in result["verification"]}
        assert checked == must_be_checked(result["cell"], result, ACCESSES_OF_FEW, origins=2)


def test_wrong_data_of_one_origin_of_several_is_found(progress):
    run = progress.launch(
        *("--origins", "2", "--cells", "operation=put,get;synchronisation=lock_all_flush"),
        *("--flavor", "allocate", *FEW),
        ranks=3,
        fault="alter any 1 2 1",
    )
    assert run.code == 3, run.stderr
    right, wrong = run.results.values()
    assert (right["status"], wrong["status"]) == ("ok", "wrong_data")
    found = {item["name"]: item["errors"] for item in wrong["verification"]}
    # the result of a get is altered; the target is unchanged
    assert found == {"at_target": 0, "in_gaps": 0, "at_origin": 1}
    # elements are counted through the parts of all origins: the first has one of 100 slots
    assert "element 100 of sample 1:" in wrong["detail"]


def test_more_origins_and_bystanders_than_ranks_are_unsupported(progress):
    run = progress.launch(
        *("--origins", "2", "--bystanders", "1", "--operation", "put", "--flavor", "create"),
        *("--synchronisation", "lock_all_flush", *FEW),
        ranks=3,
    )
    assert run.code == 4, run.stderr
    (result,) = run.results.values()
    assert result["status"] == "unsupported"
    assert "2 origins and 1 bystanders need 4 ranks: found 3" in result["detail"]


@pytest.mark.first_mpi
def test_sanitizers_find_nothing_with_several_origins(sanitized_progress):
    run = sanitized_progress.launch(
        *("--origins", "2", "--flavor", "create,dynamic", "--data", "indexed", *FEW),
        *("--size_bytes", "64", "--operation", "put,get_accumulate"),
        *("--synchronisation", "lock_exclusive,pscw"),
        ranks=3,
    )
    assert run.code == 0, run.stderr
    assert len(run.results) == 8
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
