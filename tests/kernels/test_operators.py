"""Operators: every operand is compared, with each operator, datatype and promise."""

from pathlib import Path

import pytest

from .asserting import blocks, samples, verified, with_fault_everywhere
from .conftest import ENVIRONMENTS, FAULTS
from .launching import preloaded_mpi

#: Bursts of three, after four cold bursts of three.
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
FETCHED = [cells.replace(ALL, "operation=get_accumulate") for cells in EVERY]


@pytest.fixture(scope="module")
def operators(each):
    return each("operators")


def why_not(labels):
    """Return a part of the reason why a cell does not exist; None if the cell exists."""
    operation, operator, element = (labels[a] for a in ("operation", "operator", "element"))
    reasons = {
        "no such operator": operator == "band" and element in ("double", "struct"),
        "operations that fetch": operator == "no_op" and operation == "accumulate",
        "one element": operation == "fetch_and_op" and element == "struct",
    }
    if labels["promise"] == "no_locks":
        reasons["tells nothing of the target"] = operation == "accumulate"
        reasons["MPI_Win_post"] = labels["target_state"] == "idle"
    return next((reason for reason, is_so in reasons.items() if is_so), None)


@pytest.mark.parametrize(
    ("ranks", "cells"),
    # three ranks on two cores are slow
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
        # for each struct two elements, and the gap after it, which only the target has
        parts = 2 if labels["element"] == "struct" else 1
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
    cells = operators.alone("--list-cells", *EVERY).stdout.splitlines()
    there = [cell for cell in cells if not why_not(dict(at.split("=") for at in cell.split(",")))]
    calls = "MPI_Accumulate,MPI_Get_accumulate,MPI_Fetch_and_op"
    with_fault_everywhere(operators, fault, *FEW, *blocks(there), calls=calls)


@pytest.mark.one_case
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
