"""The page of operators: a verdict for each operator and datatype, and the effect of a promise."""

from functools import partial

import pytest
from made_up import generator, patterns
from made_up.generator import MPICH, OPENMPI, Environment
from shown import materials, parts

from onesided.cells.verdicts import INDEPENDENT, WAITS
from onesided.studies.stfc.matrix import Decides

OPERATORS = ("sum", "max", "no_op")
ELEMENTS = ("int64", "double")
#: With one MPI, only the maximum of doubles waits; with the other, all wait unless they promise.
ENVIRONMENTS = (
    Environment(
        MPICH, "mpich", waits=lambda at: (at["operator"], at["element"]) == ("max", "double")
    ),
    Environment(OPENMPI, "openmpi", waits=lambda at: at["promise"] == "no_key"),
)


def cells(operators, elements, promise):
    return generator.points(
        operation="get_accumulate",
        operator=operators,
        element=elements,
        promise=promise,
        flavor="allocate",
        target_state="computes",
    )


#: The matrix, and the sum of 64-bit integers with a promise.
CELLS = {"operators": [*cells(OPERATORS, ELEMENTS, "no_key"), *cells("sum", "int64", "same_op")]}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the sentences and the matrix of operators, then those of promises."""
    make = partial(generator.campaign, patterns.series, CELLS, environments=ENVIRONMENTS)
    made = materials(make, tmp_path_factory.mktemp("operators"))
    return parts(made["operators"], Decides)


def words(matrix):
    return {row.name: [mark.word for place in row.places for mark in place] for row in matrix.rows}


def test_each_operator_has_a_verdict_for_each_mpi_and_datatype(shown):
    _, operators, _, promises = shown
    assert operators.columns == [(MPICH, list(ELEMENTS)), (OPENMPI, list(ELEMENTS))]
    assert words(operators) == {
        "sum": [INDEPENDENT, INDEPENDENT, WAITS, WAITS],
        "max": [INDEPENDENT, WAITS, WAITS, WAITS],
        "no_op": [INDEPENDENT, INDEPENDENT, WAITS, WAITS],
    }
    assert [row.group for row in operators.rows] == ["get_accumulate"] * 3
    assert words(promises) == {
        "no key": [INDEPENDENT, WAITS],
        "accumulate_ops=same_op": [INDEPENDENT] * 2,
    }
    assert len(operators.table.rows) == len(OPERATORS) * len(ELEMENTS) * 2


def test_sentences_say_which_point_has_another_verdict_than_most(shown):
    operator, _, promise, _ = shown
    assert operator.sentences == [
        f"{MPICH}: waits: get_accumulate, max, double; all others are independent.",
        f"{OPENMPI}: the operator or the datatype changes nothing, all are waits.",
    ]
    assert promise.sentences == [
        f"{MPICH}: a promise changes nothing, all are independent.",
        f"{OPENMPI}: waits: get_accumulate, no key, allocate; all others are independent.",
    ]
