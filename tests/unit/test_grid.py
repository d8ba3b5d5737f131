"""The grid: a base point, crosses around it, and the cells they make."""

import pytest

from onesided.campaign import grid

BASE = {"operation": "put", "flavor": "create", "compute_ms": 10}


def test_a_cross_keeps_the_base_point_on_the_axes_it_does_not_name():
    cells = grid.cells(BASE, [{"flavor": ["create", "allocate"]}])
    assert list(cells) == [
        "operation=put,flavor=create,compute_ms=10",
        "operation=put,flavor=allocate,compute_ms=10",
    ]


def test_a_cell_that_two_crosses_name_stands_once_where_it_was_first_named():
    cells = grid.cells(BASE, [{"operation": ["get", "put"]}, {"flavor": ["create", "allocate"]}])
    assert [labels["operation"] for labels in cells.values()] == ["get", "put", "put"]
    assert len(cells) == 3


def test_numbers_are_written_without_needless_digits():
    assert grid.cell_id({"a": 10.0, "b": 0.5, "c": 240}) == "a=10,b=0.5,c=240"


def test_a_number_of_seven_digits_keeps_all_of_them():
    assert grid.cell_id({"size_bytes": 1048576}) == "size_bytes=1048576"


def test_a_cross_on_an_unknown_axis_is_refused():
    with pytest.raises(ValueError, match="'flavour'"):
        grid.cells(BASE, [{"flavour": ["create"]}])


def test_a_cross_without_values_is_refused_since_it_would_empty_the_grid():
    with pytest.raises(ValueError, match="no value"):
        grid.cells(BASE, [{"flavor": []}])


def test_the_kernel_option_names_every_axis():
    (block,) = grid.blocks(BASE, [{"flavor": ["create", "allocate"]}])
    assert grid.block_option(block) == "operation=put;flavor=create,allocate;compute_ms=10"
