"""A failing cell of conformance is made smaller, one axis at a time, while it fails."""

import pytest

from onesided.studies.data import cell_program

LARGE = {
    "call": "put",
    "operator": "none",
    "element": "double",
    "count": "4096",
    "layout_origin": "drawn",
    "layout_target": "nested",
    "flavor": "dynamic",
    "synchronisation": "pscw",
    "outstanding": "256",
    "overlap": "none",
    "target": "self",
    "memory": "one",
    "window": "roomy",
    "windows": "8_freed_backwards",
    "datatypes": "freed_early",
}
SMALLEST = {
    **LARGE,
    "element": "int8",
    "count": "1",
    "layout_origin": "plain",
    "layout_target": "plain",
    "flavor": "allocate",
    "synchronisation": "lock_all_flush",
    "outstanding": "1",
    "target": "last",
    "memory": "every",
    "window": "exact",
    "windows": "1",
    "datatypes": "kept",
}


def test_what_always_fails_becomes_the_smallest_cell_there_is():
    assert cell_program.shrink(LARGE, lambda cell: True) == SMALLEST


def test_what_fails_alone_stays_as_it_is():
    assert cell_program.shrink(LARGE, lambda cell: False) == LARGE


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        (lambda cell: int(cell["outstanding"]) >= 255, {"outstanding": "256"}),
        (lambda cell: int(cell["outstanding"]) >= 250, {"outstanding": "252"}),
        (lambda cell: int(cell["count"]) > 3, {"count": "8"}),
        (lambda cell: cell["flavor"] != "allocate", {"flavor": "create"}),
        (lambda cell: cell["synchronisation"] == "pscw", {"synchronisation": "pscw"}),
        (
            lambda cell: cell["layout_origin"] != "plain" and cell["target"] == "self",
            {"layout_origin": "contiguous", "target": "self"},
        ),
    ],
)
def test_what_the_failure_needs_is_left_and_nothing_else(needed, left):
    assert cell_program.shrink(LARGE, needed) == {**SMALLEST, **left}


def test_no_cell_is_tried_twice_and_each_is_a_step_from_one_that_failed():
    tried = []

    def fails(cell):
        tried.append(tuple(cell.values()))
        return int(cell["count"]) >= 64 and cell["element"] == "double"

    small = cell_program.shrink(LARGE, fails)
    assert small == {**SMALLEST, "count": "64", "element": "double"}
    assert len(set(tried)) == len(tried)


def test_a_small_cell_is_not_made_larger():
    candidates = list(cell_program.simpler({**LARGE, "count": "5", "outstanding": "3"}))
    assert {cell["count"] for cell in candidates} == {"1", "2", "3", "5"}
    assert {cell["outstanding"] for cell in candidates} == {"1", "2", "3"}
