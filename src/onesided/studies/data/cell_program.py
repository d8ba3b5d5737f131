"""Simplify a failing cell of `conformance`, and write a cell as a C program.

The C program needs only an MPI, because all data are literals in the program.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import jinja2

from onesided.campaign import grid
from onesided.campaign.grid import NO_MEANING
from onesided.studies.data import axes

Labels = dict[str, str]

SIMPLER: Mapping[str, tuple[str, ...]] = {
    "windows": ("1", "2", "8"),
    "outstanding": ("1", "2", "4", "16", "64", "128", "192", "224", "240", "248", "252", "254"),
    "count": ("1", "2", "3", "8", "64", "256", "1024"),
    "layout_origin": ("plain", "contiguous", "vector", "indexed", "struct"),
    "layout_target": ("plain", "contiguous", "vector", "indexed", "struct"),
    "datatypes": ("kept",),
    "memory": ("every",),
    "target": ("last",),
    "overlap": ("apart", "same"),
    "flavor": ("allocate", "create"),
    "synchronisation": ("lock_all_flush", "lock_exclusive", "fence"),
    "element": ("int8", "int32", "int64", "double", "two_int", "short_int"),
    "operator": ("replace", "sum", "maxloc"),
    "window": ("exact",),
}
"""The simple values of each axis of `conformance`, the simplest first. Values that are not listed
are less simple. Axes that lengthen the C program the most come first."""


def simpler(labels: Mapping[str, str]) -> Iterator[Labels]:
    """Yield the cells that have a simpler value than the given cell on exactly one axis.

    The cells are sorted by axis. For each axis, the cell with the simplest value comes first.
    """
    for axis, values in SIMPLER.items():
        own = labels[axis]
        if own == NO_MEANING:
            continue
        known = values.index(own) if own in values else len(values)
        numeric = own.isdigit() and all(value.isdigit() for value in values)
        for value in values[:known]:
            if not numeric or int(value) < int(own):
                yield {**labels, axis: value}


def shrink(labels: Mapping[str, str], fails: Callable[[Labels], bool]) -> Labels:
    """Return the labels of a failing cell that is as simple as possible.

    If any single axis gets a simpler value, the cell no longer fails in the same way.

    Args:
        labels: the labels of a cell that fails, with all axes.
        fails: tells whether a cell fails like the given cell; called at most once for each cell.
    """
    found = dict(labels)
    tried: set[tuple[str, ...]] = set()
    while True:
        for candidate in simpler(found):
            key = tuple(candidate.values())
            if key in tried:
                continue
            tried.add(key)
            if fails(candidate):
                found = candidate
                break
        else:
            return found


BYTES_A_LINE = 24
SENDS_NOTHING, FETCHES_NOTHING = ("get", "rget"), ("put", "rput", "accumulate", "raccumulate")
OF_ONE_ELEMENT = ("fetch_and_op", "compare_and_swap")

ARGUMENTS: Mapping[str, str] = {
    "MPI_Type_dup": "{of[0]}",
    "MPI_Type_contiguous": "{count}, {of[0]}",
    "MPI_Type_vector": "{count}, {n[0]}, {at[0]}, {of[0]}",
    "MPI_Type_create_hvector": "{count}, {n[0]}, {at[0]}, {of[0]}",
    "MPI_Type_indexed": "{count}, n{t}, at{t}, {of[0]}",
    "MPI_Type_create_hindexed": "{count}, n{t}, at{t}, {of[0]}",
    "MPI_Type_create_indexed_block": "{count}, {n[0]}, at{t}, {of[0]}",
    "MPI_Type_create_hindexed_block": "{count}, {n[0]}, at{t}, {of[0]}",
    "MPI_Type_create_struct": "{count}, n{t}, at{t}, of{t}",
    "MPI_Type_create_resized": "{of[0]}, {at[0]}, {at[1]}",
    "MPI_Type_create_subarray": "2, (int[]){{{rows}, {n[1]}}}, (int[]){{{count}, {n[0]}}}, "
    "(int[]){{{at[0]}, {at[1]}}}, MPI_ORDER_C, {of[0]}",
}
"""The arguments of each constructor. An argument that is a list becomes a C variable; the
variable's name ends with the number of the datatype (`t`)."""

IN_BYTES = ("MPI_Type_create_h", "MPI_Type_create_struct", "MPI_Type_create_resized")
"""The first letters of the datatype constructors that count displacements in bytes."""

UNLOCK, FLUSH = "MPI_Win_unlock(TARGET, win)", "MPI_Win_flush(TARGET, win)"
AT_ORIGIN: Mapping[str, tuple[str, str]] = {
    "lock_exclusive": ("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win)", UNLOCK),
    "lock_shared": ("MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win)", UNLOCK),
    "lock_shared_nocheck": ("MPI_Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, win)", UNLOCK),
    "lock_all_flush": ("MPI_Win_lock_all(0, win)", FLUSH),
    "lock_all_nocheck": ("MPI_Win_lock_all(MPI_MODE_NOCHECK, win)", FLUSH),
    "lock_all_flush_local": ("MPI_Win_lock_all(0, win)", "MPI_Win_flush_local(TARGET, win)"),
    "fence": ("MPI_Win_fence(MPI_MODE_NOPRECEDE, win)", "MPI_Win_fence(MPI_MODE_NOSUCCEED, win)"),
    "pscw": ("MPI_Win_start(targets, 0, win)", "MPI_Win_complete(win)"),
}
"""For each synchronisation: the calls of an origin before and after its operations."""

AT_TARGET: Mapping[str, tuple[str, str, str]] = {
    "fence": ("!is_origin", *AT_ORIGIN["fence"]),
    "pscw": ("rank == TARGET", "MPI_Win_post(origins, 0, win)", "MPI_Win_wait(win)"),
}
"""A condition that is true for ranks in the origins' epoch, and the calls of these ranks before and
after the epoch."""


def program(cell: Mapping[str, Any], comments: Sequence[str]) -> str:
    """Return the C program that does what a cell does.

    Args:
        cell: a line that the kernel wrote to the file of its option --cell-data.
        comments: the lines of the program's first comment, after the id of the cell.
    """
    template = jinja2.Template(
        Path(__file__).with_suffix(".j2").read_text("utf-8"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    labels = grid.labels_of(cell["cell"])
    call, way = labels["call"], labels["synchronisation"]
    origin, target = cell["origins"][0], cell["target"]
    statements: list[str] = []
    numbers = count()
    return template.render(
        cell=cell,
        labels=labels,
        comments=comments,
        origin=origin,
        sends=call not in SENDS_NOTHING,
        fetches=call not in FETCHES_NOTHING,
        has_request=call in axes.WITH_REQUEST,
        here_type=_datatype(origin["datatype"], cell["element_bytes"], numbers, statements),
        there_type=_datatype(target["datatype"], cell["element_bytes"], numbers, statements),
        datatypes=statements,
        at_origin=AT_ORIGIN[way],
        at_target=AT_TARGET.get(way),
        arguments=_arguments(cell, call, origin["is_absolute"]),
        table=_table,
        compared=_compared,
    )


def _datatype(
    tree: Mapping[str, Any] | str, unit: int, numbers: Iterator[int], statements: list[str]
) -> str:
    """Append the C statements that make a datatype and its children; return the datatype's name."""
    if isinstance(tree, str):
        return tree
    of = [_datatype(child, unit, numbers, statements) for child in tree["children"]]
    t, name, blocks, n = next(numbers), tree["constructor"], tree["count"], tree["lengths"]
    at = [place * (unit if name.startswith(IN_BYTES) else 1) for place in tree["displacements"]]
    rows = at[0] + blocks
    arguments = ARGUMENTS[name].format(count=blocks, n=n, at=at, of=of, t=t, rows=rows)
    lists = {
        f"const int n{t}": n[:blocks],
        f"const {'MPI_Aint' if name.startswith(IN_BYTES) else 'int'} at{t}": at[:blocks],
        f"MPI_Datatype of{t}": of,
    }
    statements.append(f"MPI_Datatype t{t};")
    for variable, values in lists.items():
        if f" {variable.split()[-1]}," in f"{arguments},":
            statements.append(f"{variable}[] = {{{', '.join(map(str, values))}}};")
    statements.append(f"{name}({arguments}, &t{t});")
    return f"t{t}"


def _arguments(cell: Mapping[str, Any], call: str, is_absolute: bool) -> str:
    """Return the C arguments of a one-sided operation, such as MPI_Put."""
    is_single = call in OF_ONE_ELEMENT
    here = "" if is_single else ", COUNT, here_type"
    there = "" if is_single else f", {cell['target']['count']}, there_type"
    sent = "MPI_BOTTOM, 1, sent" if is_absolute else f"from + here{here}"
    got = "MPI_BOTTOM, 1, got" if is_absolute else f"into + here{here}"
    arguments = (
        sent if call not in SENDS_NOTHING else None,
        "compare[mine] + here" if call == "compare_and_swap" else None,
        got if call not in FETCHES_NOTHING else None,
        cell["element"] if is_single else None,
        f"TARGET, there{there}",
        cell["operator"],
        "win",
        "&requests[i]" if call in axes.WITH_REQUEST else None,
    )
    return ", ".join(argument for argument in arguments if argument)


def _numbers(values: Sequence[int]) -> str:
    lines = (values[i : i + BYTES_A_LINE] for i in range(0, len(values), BYTES_A_LINE))
    return "".join("\n    " + "".join(f"{value}," for value in line) for line in lines)


def _table(name: str, rows: Iterable[Sequence[int]]) -> str:
    """Return the C code of a table of bytes, with a table row for each rank or moment."""
    rows = list(rows)
    values = ",\n    ".join(f"{{{_numbers(row)}}}" for row in rows)
    return f"static const unsigned char {name}[{len(rows)}][{len(rows[0]) + 1}] = {{{values}}};"


def _compared(name: str, side: Mapping[str, Any]) -> str:
    """Return the C code of a table: 0 for a byte in an element's gap, 1 for each compared byte."""
    if not side["gaps"]:
        return f"static const unsigned char *const {name} = NULL;"
    gaps = set(side["gaps"])
    values = [int(i not in gaps) for i in range(side["bytes"])]
    return f"static const unsigned char {name}[] = {{{_numbers(values)}}};"
