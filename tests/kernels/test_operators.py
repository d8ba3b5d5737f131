"""Operators: every operand is compared, whatever the operator, the datatype and the promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import ENVIRONMENTS, FAULTS
from .launching import preloaded_mpi, samples, verified, with_fault_everywhere

#: Bursts of three, after four cold ones of three.
FEW = ("--samples=3", "--burst=3", "--budget-s=60", "--computing-samples=2", "--compute-ms=2")
BURSTS, SLOTS, MEETINGS = 4 + 3, 3, 2
OPERATORS = "operator=sum,prod,max,band,replace,no_op"
ELEMENTS = "element=int32,int64,double,struct"
ALL = "operation=accumulate,get_accumulate,fetch_and_op"
PROMISES = "promise=no_key,same_op,same_op_no_op,no_ordering,no_locks"
EVERY = (
    f"--cells={ALL};{OPERATORS};{ELEMENTS};target_state=idle",
    f"--cells={ALL};{PROMISES};flavor=create,allocate,dynamic;target_state=idle,computes",
)
#: Those of one operation.
FETCHED = [cells.replace(ALL, "operation=get_accumulate") for cells in EVERY]
#: The cells that there are.
REAL = "sum,prod,max,replace"
THERE = tuple(
    f"--cells={cells}"
    for cells in (
        f"operation=accumulate;operator={REAL},band;element=int32,int64;target_state=idle",
        f"operation=accumulate;operator={REAL};element=double,struct;target_state=idle",
        f"operation=get_accumulate,fetch_and_op;operator={REAL},band,no_op;element=int32,int64",
        f"operation=get_accumulate,fetch_and_op;operator={REAL},no_op;element=double",
        f"operation=get_accumulate;operator={REAL},no_op;element=struct;target_state=idle",
        f"{ALL};promise=same_op,same_op_no_op,no_ordering;flavor=create,dynamic",
        "operation=get_accumulate,fetch_and_op;promise=no_locks;target_state=computes",
    )
)
#: Of a struct each of two elements, and the gap after it, which only the target has.
PARTS = {"struct": 2}


@pytest.fixture(scope="module")
def operators(each):
    return each("operators")


def why_not(labels):
    """Return a part of the reason that there is no such cell; None where there is one."""
    fetches = labels["operation"] != "accumulate"
    if labels["operator"] == "band" and labels["element"] in ("double", "struct"):
        return "no such operator"
    if labels["operator"] == "no_op" and not fetches:
        return "operations that fetch"
    if labels["operation"] == "fetch_and_op" and labels["element"] == "struct":
        return "one element"
    if labels["promise"] == "no_locks" and not fetches:
        return "tells nothing of the target"
    if labels["promise"] == "no_locks" and labels["target_state"] == "idle":
        return "MPI_Win_post"
    return None


@pytest.mark.parametrize(
    ("ranks", "cells"),
    # three ranks on two cores take their time
    [(2, EVERY), pytest.param(3, FETCHED, marks=pytest.mark.slow)],
)
def test_every_operand_is_compared_at_its_target_and_what_is_fetched_at_its_origin(
    operators, ranks, cells
):
    run = operators.launch(*FEW, *cells, ranks=ranks)
    for result in run.results.values():
        labels = result["labels"]
        reason = why_not(labels)
        if reason:
            assert result["status"] == "unsupported"
            assert reason in result["detail"]
            continue
        assert result["status"] == "ok", result["detail"]
        parts = PARTS.get(labels["element"], 1)
        idle = labels["target_state"] == "idle"
        there = (ranks - 1) * SLOTS * (BURSTS if idle else MEETINGS)
        here = (ranks - 1) * (BURSTS * SLOTS if idle else MEETINGS)
        expected = {"at_target": (there * parts * parts, 0)}
        if labels["operation"] != "accumulate":
            expected["at_origin"] = (here * parts, 0)
        assert verified(result) == expected
        series = "time" if idle else "access"
        assert sorted(samples(result, series)) == list(range(1, ranks))


@pytest.mark.parametrize("fault", FAULTS)
def test_an_operand_that_is_lost_stale_or_altered_is_found_under_every_operator(operators, fault):
    with_fault_everywhere(operators, fault, *FEW, *THERE)


@pytest.mark.parametrize(
    ("promise", "keys"),
    [
        ("no_key", ""),
        ("same_op", " accumulate_ops=same_op"),
        ("no_ordering", " accumulate_ordering=none"),
        ("no_locks", " no_locks=true"),
    ],
)
def test_a_window_has_the_key_of_its_cell_and_no_lock_where_none_is_allowed(
    kernel_of, tmp_path, promise, keys
):
    kernel = kernel_of("operators", ENVIRONMENTS[0])
    source = Path(__file__).with_name("info_of_windows.c")
    told = preloaded_mpi(source, kernel.environment, tmp_path)
    cells = f"--cells=operation=get_accumulate;promise={promise};target_state=computes"
    run = kernel.launch(*FEW, cells, variables=told)
    said = run.stderr.splitlines()
    assert said.count(f"window:{keys}") == 2
    assert said.count("locked") == (0 if promise == "no_locks" else 2)
