"""The grid of an experiment: a base point, the crosses around this point, and the cells.

A ReFrame check declares a base point (one value for each axis) and crosses (axes that are varied,
with their values). The cells are the union of the crosses' products. If two crosses have the same
cell, the cell occurs only once, at its first place. From the same blocks, the kernels make the same
ids (``--list-cells``), and a test compares both.
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
    """Return the text of an axis value. Numbers are written in the same form as by the kernels."""
    return f"{value:.12g}" if isinstance(value, int | float) else value


def cell_id(labels: Point) -> str:
    """Return the id of a cell: ``axis=value`` for each axis in order, joined by commas."""
    return _id({axis: canonical(value) for axis, value in labels.items()})


def _id(labels: Mapping[str, str]) -> str:
    return ",".join(map("=".join, labels.items()))


def labels_of(cell: str) -> dict[str, str]:
    """Return the labels of a cell's id.

    Raises:
        InputError: the text is not the id of a cell.
    """
    pairs = [part.partition("=") for part in cell.split(",")]
    if not all(axis and equals and value for axis, equals, value in pairs):
        raise InputError("cell", None, repr(cell), "axis=value,axis=value, as a report shows it")
    return {axis: value for axis, _, value in pairs}


def blocks(base_point: Point, crosses: Iterable[Cross]) -> list[dict[str, list[str]]]:
    """Return, for each cross, a block: all axes with their values.

    If a cross does not name an axis, the axis has its value from the base point.

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
    """Return a block as a kernel's option ``--cells`` takes it: ``axis=v,v;axis=v``."""
    return ";".join(f"{axis}={','.join(values)}" for axis, values in block.items())


def points(base_point: Point, crosses: Iterable[Cross]) -> list[dict[str, str]]:
    """Return the labels of every cell, in the order in which a launch runs them."""
    each = (itertools.product(*block.values()) for block in blocks(base_point, crosses))
    found = dict.fromkeys(itertools.chain.from_iterable(each))
    return [dict(zip(base_point, values, strict=True)) for values in found]


def cells(base_point: Point, crosses: Iterable[Cross]) -> dict[str, dict[str, str]]:
    """Return the labels of every cell by id, in the order in which a launch runs them."""
    return {_id(labels): labels for labels in points(base_point, crosses)}


def most_cells(base_point: Point, crosses: Iterable[Cross]) -> int:
    """Return an upper bound of the number of cells, as if crosses shared no cell."""
    found = blocks(base_point, crosses)
    return sum(math.prod(len(values) for values in block.values()) for block in found)


def narrowed(
    base_point: Point, crosses: Iterable[Cross], chosen: Container[str]
) -> list[dict[str, list[str]]]:
    """Return one cross for each cell whose id is chosen, in the declared order."""
    declared = cells(base_point, crosses)
    return [
        {axis: [value] for axis, value in labels.items()}
        for cell, labels in declared.items()
        if cell in chosen
    ]
