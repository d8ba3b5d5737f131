"""The grid of an experiment's cells, made from a base point and combinations of axis values.

A ReFrame check declares a base point (one value for each axis) and crosses (axes that are varied,
with their values). Each cross stands for all combinations of its values; the grid has the cells of
all crosses. If two crosses have the same cell, the cell runs only once, in the place where it
occurs first. The C kernels make the same cell ids from the same grid (``--list-cells``); a test
compares the ids.
"""

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence

from onesided.system.errors import InputError

NO_MEANING = "none"
"""The value of an axis in cells for which the axis has no meaning."""

Value = str | int | float
Point = Mapping[str, Value]
Cross = Mapping[str, Sequence[Value]]


def canonical(value: Value) -> str:
    """Return an axis value as text. Numbers have the same form as in the kernels' output."""
    return f"{value:.12g}" if isinstance(value, int | float) else value


def cell_id(labels: Point) -> str:
    """Return the id of a cell: ``axis=value`` for each axis in order, joined by commas."""
    return _id({axis: canonical(value) for axis, value in labels.items()})


def _id(labels: Mapping[str, str]) -> str:
    return ",".join(map("=".join, labels.items()))


def labels_of(cell: str) -> dict[str, str]:
    """Return the axes and values that a cell's id names.

    Raises:
        InputError: the text is not the id of a cell.
    """
    pairs = [part.partition("=") for part in cell.split(",")]
    if not all(axis and equals and value for axis, equals, value in pairs):
        raise InputError("cell", None, repr(cell), "axis=value,axis=value, as a report shows it")
    return {axis: value for axis, _, value in pairs}


def blocks(base_point: Point, crosses: Iterable[Cross]) -> list[dict[str, list[str]]]:
    """Return one block for each cross; a block has the values of every axis of the grid.

    An axis that the cross does not name has its value from the base point.

    Raises:
        ValueError: a cross names an axis that the base point lacks, or an axis without a value.
    """
    result = []
    for cross in crosses:
        for axis, values in cross.items():
            if axis not in base_point:
                raise ValueError(f"axis {axis!r} of a cross is not in the base point")
            if not values:
                raise ValueError(f"axis {axis!r} of a cross has no value")
        result.append(
            {
                axis: [canonical(value) for value in cross.get(axis, [base])]
                for axis, base in base_point.items()
            }
        )
    return result


def block_option(block: Mapping[str, Sequence[str]]) -> str:
    """Return axes and values as text for the kernels' option ``--cells``: ``axis=v,v;axis=v``."""
    return ";".join(f"{axis}={','.join(values)}" for axis, values in block.items())


def points(base_point: Point, crosses: Iterable[Cross]) -> list[dict[str, str]]:
    """Return the labels of every cell, in the order in which a launch runs the cells."""
    each = (itertools.product(*block.values()) for block in blocks(base_point, crosses))
    found = dict.fromkeys(itertools.chain.from_iterable(each))
    return [dict(zip(base_point, values, strict=True)) for values in found]


def cells(base_point: Point, crosses: Iterable[Cross]) -> dict[str, dict[str, str]]:
    """Return the labels of all cells in the order in which they run; the keys are cell ids."""
    return {_id(labels): labels for labels in points(base_point, crosses)}


def most_cells(base_point: Point, crosses: Iterable[Cross]) -> int:
    """Return an upper bound of the number of cells: a cell counts once for each of its crosses."""
    found = blocks(base_point, crosses)
    return sum(math.prod(len(values) for values in block.values()) for block in found)


def narrowed(
    base_point: Point, crosses: Iterable[Cross], chosen: Container[str]
) -> list[dict[str, list[str]]]:
    """Return one cross for each chosen cell, in the declared order of the cells."""
    declared = cells(base_point, crosses)
    return [
        {axis: [value] for axis, value in labels.items()}
        for cell, labels in declared.items()
        if cell in chosen
    ]
