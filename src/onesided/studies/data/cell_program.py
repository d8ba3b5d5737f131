"""A cell of `conformance` as a C program that needs only an MPI. Its bytes are literals."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import jinja2

from onesided.campaign import grid
from onesided.studies.data import axes

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
"""The arguments of each constructor. A list is a variable, with the datatype's number `t`."""


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
"""The calls of an origin before and after its operations."""

AT_TARGET: Mapping[str, tuple[str, str, str]] = {
    "fence": ("!is_origin", *AT_ORIGIN["fence"]),
    "pscw": ("rank == TARGET", "MPI_Win_post(origins, 0, win)", "MPI_Win_wait(win)"),
}
"""Which ranks beside the origins take part in the epoch, with their calls before and after."""


def program(cell: Mapping[str, Any], comments: Sequence[str]) -> str:
    """Return the C program of a cell.

    Args:
        cell: a line that the kernel wrote to the file of its option --describe-cells.
        comments: the lines of the program's first comment, after the id of the cell.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    labels = grid.labels_of(cell["cell"])
    statements: list[str] = []
    numbers = count()
    sides = {side: cell["ranks"][cell[f"{side}_rank"]][side] for side in ("origin", "target")}
    of_sides = [_datatype(side["datatype"], numbers, statements) for side in sides.values()]
    return environment.get_template("cell_program.j2").render(
        cell=cell,
        labels=labels,
        **sides,
        comments=comments,
        at_origin=AT_ORIGIN[labels["synchronisation"]],
        at_target=AT_TARGET.get(labels["synchronisation"]),
        sends=labels["call"] not in SENDS_NOTHING,
        fetches=labels["call"] not in FETCHES_NOTHING,
        has_request=labels["call"] in axes.WITH_REQUEST,
        tables=_tables(cell, labels["call"], sides),
        datatypes=statements,
        of_sides=of_sides,
        arguments=_arguments(cell, labels["call"], sides),
    )


def _datatype(tree: Mapping[str, Any], numbers: Iterator[int], statements: list[str]) -> str:
    """Append the statements that make a datatype and its children; return its variable."""
    if isinstance(tree, str):
        return tree
    of = [_datatype(child, numbers, statements) for child in tree["children"]]
    t, name, n, at = next(numbers), tree["constructor"], tree["lengths"], tree["displacements"]
    lists = {
        "n": ("const int", n[: tree["count"]]),
        "at": ("const int" if "_indexed" in name else "const MPI_Aint", at[: tree["count"]]),
        "of": ("MPI_Datatype", of),
    }
    statements.append(f"MPI_Datatype t{t};")
    for variable, (kind, values) in lists.items():
        if f" {variable}{{t}}" in ARGUMENTS[name]:
            statements.append(f"{kind} {variable}{t}[] = {{{', '.join(map(str, values))}}};")
    rows = at[0] + tree["count"]
    arguments = ARGUMENTS[name].format(count=tree["count"], n=n, at=at, of=of, t=t, rows=rows)
    statements.append(f"{name}({arguments}, &t{t});")
    return f"t{t}"


def _arguments(cell: Mapping[str, Any], call: str, sides: Mapping[str, Any]) -> list[str]:
    """Return the arguments of an operation."""
    is_absolute, operator = sides["origin"]["is_absolute"], cell["operator"]
    buffers = {
        "sent": "from" if call not in SENDS_NOTHING else None,
        "compare": "compare[mine]" if call == "compare_and_swap" else None,
        "got": "into" if call not in FETCHES_NOTHING else None,
    }
    found: list[str] = []
    for absolute, buffer in buffers.items():
        if buffer and is_absolute:
            found += ["MPI_BOTTOM", "1", absolute]
        elif buffer:
            found.append(f"{buffer} + here")
            found += [] if call in OF_ONE_ELEMENT else ["COUNT", "here_type"]
    found += [cell["element"]] if call in OF_ONE_ELEMENT else []
    found += ["TARGET", "there"]
    found += [] if call in OF_ONE_ELEMENT else [str(sides["target"]["count"]), "there_type"]
    found += [operator] if operator else []
    return [*found, "win", *(["&requests[i]"] if call in axes.WITH_REQUEST else [])]


def _tables(cell: Mapping[str, Any], call: str, sides: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tables of bytes that the program begins with, and compares with."""
    target = cell["ranks"][cell["target_rank"]]
    origins = [rank for rank in cell["ranks"] if "origin" in rank]
    yield _table("window_bytes", [target["before"], target["after"]])
    yield _compared("window_compared", cell, sides["target"])
    yield _table("origin", [rank["sent"] for rank in origins])
    yield _table("result", [rank["result"] for rank in origins])
    if call not in FETCHES_NOTHING:
        yield _table("fetched", [rank["fetched"] for rank in origins])
        yield _compared("fetched_compared", cell, sides["origin"])
    if call == "compare_and_swap":
        yield _table("compare", [rank["compare"] for rank in origins])


def _numbers(values: Sequence[int]) -> str:
    lines = (values[i : i + BYTES_A_LINE] for i in range(0, len(values), BYTES_A_LINE))
    return "".join("\n    " + "".join(f"{value}," for value in line) for line in lines)


def _table(name: str, rows: Sequence[Sequence[int]]) -> str:
    values = ",\n    ".join(f"{{{_numbers(row)}}}" for row in rows)
    return f"static const unsigned char {name}[{len(rows)}][{len(rows[0]) + 1}] = {{{values}}};"


def _compared(name: str, cell: Mapping[str, Any], side: Mapping[str, Any]) -> str:
    """Return a table with 1 for each byte that is compared. Bytes in an element's gap are not."""
    begin, end = cell["gap_begin"], cell["gap_end"]
    if begin == end:
        return f"static const unsigned char *const {name} = NULL;"
    compared = [1] * side["bytes"]
    for at in side["elements_at"]:
        compared[at + begin : at + end] = [0] * (end - begin)
    return f"static const unsigned char {name}[] = {{{_numbers(compared)}}};"
