"""What is recommended as a C program that can be compiled and run, made from its parts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onesided.studies.stfc.progress.advice.findings import Advice

WIDTH = 76
"""Of a line of declarations."""

ONE = "1, MPI_INT64_T"
THERE = f"0, @, {ONE}"
"""Where at the target an operation goes: rank 0, the place of the window's only number."""

PLACES: Mapping[str, str] = {"dynamic": "at"}
"""The word for that place, by flavor; of the others it is the window's beginning."""

WAIT = "MPI_Wait(&request, MPI_STATUS_IGNORE);"

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "put": (f"MPI_Put(&mine, {ONE}, {THERE}, win);",),
    "get": (f"MPI_Get(&mine, {ONE}, {THERE}, win);",),
    "accumulate": (f"MPI_Accumulate(&mine, {ONE}, {THERE}, MPI_SUM, win);",),
    "get_accumulate": (
        f"MPI_Get_accumulate(&mine, {ONE}, &before, {ONE}, {THERE}, MPI_SUM, win);",
    ),
    "fetch_and_op": ("MPI_Fetch_and_op(&mine, &before, MPI_INT64_T, 0, @, MPI_SUM, win);",),
    "compare_and_swap": ("MPI_Compare_and_swap(&mine, &zero, &before, MPI_INT64_T, 0, @, win);",),
    "rput": (f"MPI_Rput(&mine, {ONE}, {THERE}, win, &request);", WAIT),
    "rget": (f"MPI_Rget(&mine, {ONE}, {THERE}, win, &request);", WAIT),
    "raccumulate": (f"MPI_Raccumulate(&mine, {ONE}, {THERE}, MPI_SUM, win, &request);", WAIT),
    "rget_accumulate": (
        f"MPI_Rget_accumulate(&mine, {ONE}, &before, {ONE}, {THERE}, MPI_SUM, win,",
        "    &request);",
        WAIT,
    ),
}
"""The lines of each operation; a swap that fails is a swap."""

OVERWRITING = ("put", "rput")
"""Operations that do not need a value in the window first."""

FIRST_VALUE = (
    "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);",
    "*memory = 0;",
    "MPI_Win_unlock(rank, win);",
    "MPI_Barrier(MPI_COMM_WORLD);",
)

OF_WINDOW = "8, 8, MPI_INFO_NULL, MPI_COMM_WORLD"

FLAVORS: Mapping[str, tuple[str, ...]] = {
    "create": (
        "MPI_Alloc_mem(8, MPI_INFO_NULL, &memory);",
        f"MPI_Win_create(memory, {OF_WINDOW}, &win);",
    ),
    "allocate": (f"MPI_Win_allocate({OF_WINDOW}, &memory, &win);",),
    "shared": (f"MPI_Win_allocate_shared({OF_WINDOW}, &memory, &win);",),
    "dynamic": (
        "MPI_Alloc_mem(8, MPI_INFO_NULL, &memory);",
        "MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);",
        "MPI_Win_attach(win, memory, 8);",
        "MPI_Get_address(memory, &at);",
        "MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);",
    ),
}
END_OF_FLAVOR: Mapping[str, tuple[str, ...]] = {
    "create": ("MPI_Win_free(&win);", "MPI_Free_mem(memory);"),
    "dynamic": ("MPI_Win_detach(win, memory);", "MPI_Win_free(&win);", "MPI_Free_mem(memory);"),
}
"""What ends a window, where it is not its freeing alone."""


@dataclass(frozen=True)
class Epoch:
    """The calls of a synchronisation.

    Attributes:
        both: of both ranks before the access.
        begin: of the origin, before the operation.
        end: of the origin, after the operation.
        target: of the target in place of these; with none it calls nothing.
        close: of both ranks in the end.
    """

    both: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    close: tuple[str, ...] = ()


UNLOCK = ("MPI_Win_unlock(0, win);",)
UNLOCK_ALL = ("MPI_Win_unlock_all(win);",)
FLUSH = ("MPI_Win_flush(0, win);",)

EPOCHS: Mapping[str, Epoch] = {
    "lock_exclusive": Epoch((), ("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);",), UNLOCK),
    "lock_shared": Epoch((), ("MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);",), UNLOCK),
    "lock_shared_nocheck": Epoch(
        (), ("MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);",), UNLOCK
    ),
    "lock_all_flush": Epoch(("MPI_Win_lock_all(0, win);",), (), FLUSH, (), UNLOCK_ALL),
    "lock_all_nocheck": Epoch(
        ("MPI_Win_lock_all(MPI_MODE_NOCHECK, win);",), (), FLUSH, (), UNLOCK_ALL
    ),
    "lock_all_flush_local": Epoch(
        ("MPI_Win_lock_all(0, win);",), (), ("MPI_Win_flush_local(0, win);",), (), UNLOCK_ALL
    ),
    "pscw": Epoch(
        (
            "MPI_Comm_group(MPI_COMM_WORLD, &world);",
            "MPI_Group_incl(world, 1, (int[]){1 - rank}, &peer);",
        ),
        ("MPI_Win_start(peer, 0, win);",),
        ("MPI_Win_complete(win);",),
        ("MPI_Win_post(peer, 0, win);", "MPI_Win_wait(win);"),
        ("MPI_Group_free(&peer);", "MPI_Group_free(&world);"),
    ),
    "fence": Epoch(("MPI_Win_fence(0, win);",), (), (), (), ("MPI_Win_fence(0, win);",)),
}

COMPUTES = "/* rank 0 computes here */"
MEANWHILE = "/* rank 0 computes meanwhile */"
FREE = ("MPI_Win_free(&win);",)
DECLARATIONS = (
    ("&before", "int64_t before;"),
    ("&zero", "int64_t zero = 0;"),
    ("&request", "MPI_Request request;"),
    ("&world", "MPI_Group world, peer;"),
    ("&at", "MPI_Aint at;"),
)
"""What a program declares where a part of it uses this, beside what each has."""


def program(flavor: str, synchronisation: str, operation: str) -> str | None:
    """Return a whole program of two ranks: rank 1 accesses rank 0, which computes meanwhile.

    Args:
        flavor: of the window.
        synchronisation: around the operation.
        operation: as the kernel progress names them.

    Returns:
        Its lines; None where a part is not known.
    """
    name = operation.removeprefix("failing_")
    if flavor not in FLAVORS or synchronisation not in EPOCHS or name not in OPERATIONS:
        return None
    epoch = EPOCHS[synchronisation]
    place = PLACES.get(flavor, "0")
    operations = [line.replace("@", place) for line in OPERATIONS[name]]
    body = (
        "MPI_Init(0, 0);",
        "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
        *FLAVORS[flavor],
        *(() if name in OVERWRITING else FIRST_VALUE),
        *epoch.both,
        f"if (rank == 1) {{ {MEANWHILE}{_block((*epoch.begin, *operations, *epoch.end))}",
        *_target(epoch.target),
        *epoch.close,
        *END_OF_FLAVOR.get(flavor, FREE),
        "return MPI_Finalize();",
    )
    used = "\n".join(body)
    further = [text for word, text in DECLARATIONS if word in used]
    head = ["int rank;", "MPI_Win win;", "int64_t mine = 42, *memory;", *further]
    lines = (*_together(head), *used.splitlines())
    main = "\n".join(f"    {line}" for line in lines)
    return f"#include <mpi.h>\n#include <stdint.h>\nint main(void) {{\n{main}\n}}\n"


def _together(words: Iterable[str]) -> list[str]:
    """Return declarations, as many on a line as it has room for."""
    return textwrap.wrap(" ".join(words), WIDTH, break_long_words=False)


def _block(calls: Iterable[str]) -> str:
    return "".join(f"\n    {call}" for call in calls) + "\n}"


def _target(calls: tuple[str, ...]) -> tuple[str, ...]:
    """Return what rank 0 does where it has to call MPI around its work."""
    if not calls:
        return ()
    first, last = calls
    return (f"if (rank == 0) {{{_block((first, COMPUTES, last))}",)


def of_advice(advice: Advice) -> str | None:
    """Return the program of what most operations of an advice have in common; None without any."""
    alike: dict[tuple[str, str], list[str]] = {}
    for operation, choice in advice.cheapest.items():
        if choice.best:
            pair = choice.best.axis("flavor"), choice.best.axis("synchronisation")
            alike.setdefault(pair, []).append(operation)
    if not alike:
        return None
    pair = max(alike, key=lambda one: len(alike[one]))
    return program(*pair, alike[pair][0])
