"""The page of operators: a verdict for each operator and datatype, and what a promise changes."""

import pytest
import synthetic_patterns as patterns
from shown import materials, parts

from onesided.cells import verdicts
from onesided.studies.stfc.matrix import VerdictMatrix
from onesided.studies.stfc.operators import Decides

ADDS, WAITS = "mpich-5.0.2", "openmpi-5.0.11"
OPERATORS = ("sum", "max", "no_op")
ELEMENTS = ("int64", "double")
PROMISES = ("no_key", "same_op")


def cells_of(kernel, ranks, interfaces):
    """Return the matrix, and the sum of 64-bit integers with each promise."""
    found = [
        {
            "operation": "get_accumulate",
            "operator": operator,
            "element": element,
            "promise": promise,
        }
        for operator in OPERATORS
        for element in ELEMENTS
        for promise in PROMISES
        if promise == "no_key" or (operator, element) == ("sum", "int64")
    ]
    return [{**at, "flavor": "allocate", "target_state": "computes"} for at in found]


def meets(kernel, ranks, at, environment, source):
    """Return accesses that begin just after a compute, and end with it or at once."""
    found = []
    for index in range(5):
        begin = 1.0 + index
        found += [("compute_begin", "s", 0, index, begin), ("compute", "s", 0, index, 0.01)]
        took = 0.0096 if environment.waits(at) else 1e-5
        found += [("access_begin", "s", 1, index, begin + 0.0005), ("access", "s", 1, index, took)]
    return found


def leaves_to_its_target(at):
    """Tell whether an access waits: the maximum of doubles does."""
    return (at["operator"], at["element"]) == ("max", "double")


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Return a campaign: one MPI leaves a maximum to its target, the other waits for a promise."""
    environments = (
        patterns.Environment(ADDS, "mpich", waits=leaves_to_its_target),
        patterns.Environment(WAITS, "openmpi", waits=lambda at: at["promise"] == "no_key"),
    )

    def make(folder):
        return patterns.campaign(
            folder,
            cells_of=cells_of,
            series=meets,
            environments=environments,
            kernels=("operators",),
            ranks=[2],
        )

    return materials(make, tmp_path_factory.mktemp("operators"))["operators"]


def words(matrix):
    """Return the verdicts of each row."""
    return {row.name: [mark.word for place in row.places for mark in place] for row in matrix.rows}


def test_each_operator_has_a_verdict_for_each_mpi_and_datatype(material):
    operators, promises = parts(material, VerdictMatrix)
    assert operators.columns == [(ADDS, list(ELEMENTS)), (WAITS, list(ELEMENTS))]
    two = [verdicts.WAITS] * 2
    assert words(operators) == {
        "sum": [verdicts.INDEPENDENT, verdicts.INDEPENDENT, *two],
        "max": [verdicts.INDEPENDENT, verdicts.WAITS, *two],
        "no_op": [verdicts.INDEPENDENT, verdicts.INDEPENDENT, *two],
    }
    assert [row.group for row in operators.rows] == ["get_accumulate"] * 3
    assert words(promises) == {
        "no key": [verdicts.INDEPENDENT, verdicts.WAITS],
        "accumulate_ops=same_op": [verdicts.INDEPENDENT] * 2,
    }
    assert len(operators.table.rows) == len(OPERATORS) * len(ELEMENTS) * 2


def test_sentences_say_which_point_has_another_verdict_than_most(material):
    operator, promise = parts(material, Decides)
    assert operator.sentences == [
        f"{ADDS}: waits: get_accumulate, max, double; all others are independent.",
        f"{WAITS}: the operator or the datatype changes nothing, all are waits.",
    ]
    assert promise.sentences == [
        f"{ADDS}: a promise changes nothing, all are independent.",
        f"{WAITS}: waits: get_accumulate, no key, allocate; all others are independent.",
    ]
