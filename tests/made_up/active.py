"""Active accumulate and gather with known times; ranks that need a call of rank 0 wait."""

from functools import partial

from made_up import generator as make

SERVED = ("target_serves", "server_thread", "server_process")
ACCUMULATE = {"accumulate": 1.0, "lock_get_put": 4.0, "target_serves": 2.0}
ACCUMULATE |= {"server_thread": 3.0, "server_process": 2.5}
#: Times of a gather of one element; single gets have 17 times the time of a server with many.
GATHER = {"gets": 1.0, "rgets": 1.2, "get_indexed": 1.5, "get_new_type": 3.0}
GATHER |= {"target_serves": 2.0, "server_thread": 3.0, "server_process": 2.5}
PUBLISHED = 17.0
MANY = "4096"
UNIT_S = 1e-6


def waits(at):
    return at["way"] in ("lock_get_put", "rgets")


ENVIRONMENTS = (
    make.Environment(make.MPICH, "mpich", waits=waits),
    make.Environment(make.OPENMPI, "openmpi", factor=2.0, waits=waits),
)


def cells_of(launch):
    """Return the cells; ways with a thread have their own launches of two ranks."""
    accumulates = launch.kernel == "active_accumulate"
    axis, first, many = ("size_bytes", "8", "1048576") if accumulates else ("elements", "64", MANY)
    return make.points(
        way=[
            way
            for way in (ACCUMULATE if accumulates else GATHER)
            if launch.ranks > 2 or way != "server_process"
        ],
        flavor=lambda at: "none" if at["way"] in SERVED else ("create", "allocate"),
        **{axis: (first, many)},
        target_state=lambda at: ("idle", "computes") if at[axis] == first else "idle",
    )


def as_claimed(kernel, ranks, at):
    if kernel == "active_accumulate":
        return ACCUMULATE[at["way"]] * (1.0 if at["size_bytes"] == "8" else 100.0)
    if at["elements"] == MANY and at["way"] in ("gets", "rgets"):
        return PUBLISHED * GATHER["target_serves"] * 10.0
    return GATHER[at["way"]] * (10.0 if at["elements"] == MANY else 1.0)


def reversed_times(kernel, ranks, at):
    return 1.0 / as_claimed(kernel, ranks, at)


def series(cell, times=as_claimed):
    at = cell.at
    origins = range(1, cell.ranks - (at["way"] == "server_process"))
    if at["target_state"] == "computes":
        behind = origins if at["way"] == "target_serves" else ()
        return make.meetings(cell, origins if cell.waits else behind, behind, origins)
    return make.timed(cell, origins, time=UNIT_S * times(*cell.place))


campaign = partial(
    make.campaign,
    series,
    cells_of,
    environments=ENVIRONMENTS,
    kernels=("active_accumulate", "gather"),
    ranks=(2, 3),
)
