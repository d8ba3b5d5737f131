"""Epochs of rank 0 on other ranks, with known times."""

from functools import partial

from made_up import generator as make

LOCKS = ("lock_all", "locks_of_targets", "locks_of_all")
WAITS = ("wait_for_first", "wait_for_all")
CALL_S, LOCK_S = 1e-7, 1e-6
#: The time of an access, by operation.
ACCESS_S = {"put": 1e-7, "fetch_and_op": 2e-7, "get_accumulate": 4e-7}


def cells_of(launch):
    """Return the cells of the check for so many ranks."""
    common = {"flavor": "allocate"}
    by_targets = make.points(
        epoch=LOCKS,
        operation="put",
        **common,
        targets=range(launch.ranks),
        operations=1,
        size_bytes=8,
    )
    atomic = make.points(
        epoch="flush",
        operation=tuple(ACCESS_S),
        **common,
        targets=1,
        operations=(1, 64),
        size_bytes=8,
    )
    waits = make.points(
        epoch=WAITS,
        operation=("put", "get_accumulate"),
        **common,
        targets=1,
        operations=(1, 64),
        size_bytes=(8, 32768),
    )
    return [*by_targets, *atomic, *waits]


def as_claimed(ranks, at):
    """Return times that support the source."""
    targets, operations = int(at["targets"]), int(at["operations"])
    if at["epoch"] in WAITS:
        return CALL_S * operations * int(at["size_bytes"])
    locked = {"lock_all": targets, "locks_of_targets": targets, "locks_of_all": ranks, "flush": 0}
    return CALL_S + locked[at["epoch"]] * LOCK_S + targets * operations * ACCESS_S[at["operation"]]


def series(cell, times=as_claimed):
    return make.timed(cell, [0], epoch=times(cell.ranks, cell.at))


campaign = partial(make.campaign, series, cells_of, kernels=("epochs",), ranks=(2, 4))
