"""Messages and puts with known values."""

from functools import partial
from types import MappingProxyType

from made_up import generator as make

UNIT_S = 1e-6
#: Eager limits of MPI_Send while rank 0 is in MPI, and the limit that the first MPI reports; the
#: second reports -1.
LIMIT, REPORTED = 4016, 4096
LARGEST = 8192
REPORTS = {
    make.MPICH: ("btl_sm_eager_limit", float(REPORTED)),
    make.OPENMPI: ("mpir_cvar_intel_shm_eager_threshold", -1.0),
}
#: Sizes that the kernels find: the first MPI's limit, and eight bytes more. The second has none.
AROUND = {"at_limit": LIMIT, "above_limit": LIMIT + 8}
NO_LIMIT = "no eager limit up to 65536 bytes: sends of all sizes return with no receive posted"
LIMITS = {"send": LIMIT, "ssend": 0, "put_flush": LARGEST}
#: The number of messages of the limit's size that find room, by the receiver's state; the tried
#: number.
ROOM, TRIED = {"in_mpi": 1000, "outside": 64}, 1000
#: Eager limits of MPI_Send with the settings that change the limit.
CHANGED = {"eager_raised": 8000, "eager_lowered": 0}
FLAVORS = ("create", "allocate")
LOCALLY = ("call", "flush_local", "request", "flush")
#: Times by the event for which an origin waits: local completion is early only for small puts.
WAITED = {"call": 1.0, "flush_local": 2.0, "request": 3.0, "flush": 4.0, "one_flush": 1.5}
WAITED |= {"notice": 9.0, "echo": 5.0, "send": 2.0, "send_reply": 6.0}
ORDERED = {"disjoint": 1.0, "flush_each": 4.0, "sliding_window": 2.0, "messages": 3.0}
ORDERED |= {"ordered_accumulates": 5.0, "unordered_accumulates": 4.0}
EXCHANGED = {"isend_recv": 1.0, "irecv_send": 1.1, "ready_send": 3.0, "sendrecv": 1.2}
EXCHANGED |= {"irecv_ssend": 2.0}
EXCHANGED |= {"put_fence": 2.0, "put_pscw": 3.0, "put_lock_all": 0.5}
OLDER = 0.25
CELLS = {
    "eager_limit": make.points(
        call=("send", "ssend", "put_flush"),
        receiver=lambda at: {"send": ("in_mpi", "outside"), "ssend": "in_mpi"}.get(
            at["call"], "outside"
        ),
        flavor=lambda at: FLAVORS if at["call"] == "put_flush" else "none",
    ),
    "completion": make.points(
        known=WAITED,
        flavor=lambda at: "none" if at["known"].startswith("send") else FLAVORS,
        size_bytes=(8, 1048576),
        target_state=lambda at: "idle" if at["known"] in LOCALLY else "none",
    ),
    "put_ordering": make.points(
        idiom=ORDERED,
        flavor=lambda at: "none" if at["idiom"] == "messages" else FLAVORS,
        size_bytes=32,
        distance=lambda at: "none" if at["idiom"] == "disjoint" else (1, 8),
    ),
    "in_place_all_to_all": make.points(
        way=("isend_waitany", "sendrecv_replace", "alltoall"),
        size_bytes=(4096, 4104, 16384, *AROUND),
    ),
    "two_way_exchange": make.points(
        interface=EXCHANGED,
        flavor=lambda at: FLAVORS if at["interface"].startswith("put") else "none",
        size_bytes=lambda at: (
            (8, 4096, 4104, 1048576, *(() if at["interface"].startswith("put") else AROUND))
        ),
    ),
}


def size_of(at):
    size = at["size_bytes"]
    return AROUND[size] if size in AROUND else int(size)


def hangs_above_the_limit(cell):
    # the first MPI's limit is just below the source's, and its sends of 4104 bytes still return
    limit = LIMIT if cell.at.get("size_bytes") in AROUND else LIMIT + 100
    above = cell.at.get("way") == "isend_waitany" and size_of(cell.at) > limit
    return ("hang", "rank 0 in operations, MPI_Waitany") if above else ("ok", None)


def has_no_limit(cell):
    return ("unsupported", NO_LIMIT) if cell.at.get("size_bytes") in AROUND else ("ok", None)


ENVIRONMENTS = (
    make.Environment(make.MPICH, "mpich", statuses=hangs_above_the_limit),
    make.Environment(make.OPENMPI, "openmpi", factor=2.0, statuses=has_no_limit),
)


def as_claimed(kernel, ranks, at):
    if kernel == "in_place_all_to_all":
        jump = 1.5 if at["size_bytes"] == "above_limit" else 1.0
        return jump if at["way"] == "alltoall" else 2.0 * jump
    large = at["size_bytes"] == "1048576"
    if kernel == "two_way_exchange":
        two_sided = not at["interface"].startswith("put")
        if large and at["interface"] == "ready_send":
            return 90.0
        is_above = at["size_bytes"] == "above_limit" or size_of(at) > 4096
        jump = 2.0 if two_sided and is_above else 0.0
        return jump + EXCHANGED[at["interface"]] * (100.0 if large else 1.0)
    if kernel == "completion":
        late = at["known"] in ("flush_local", "request", "flush")
        return 100.0 if large and late else WAITED[at["known"]] * (50.0 if large else 1.0)
    is_near = at["distance"] == "1" and at["idiom"] == "sliding_window"
    return ORDERED["flush_each"] if is_near else ORDERED[at["idiom"]]


def reversed_times(kernel, ranks, at):
    return 1.0 / as_claimed(kernel, ranks, at)


def search(at, setting, changed):
    """Return the result of a search for a limit, with a sample for each size."""
    limit = 256 if (at["call"], at["receiver"]) == ("send", "outside") else LIMITS[at["call"]]
    if at["call"] == "send":
        limit = changed.get(setting, limit)
    sizes = sorted({*(1 << power for power in range(14)), limit, min(limit + 1, LARGEST)} - {0})
    found = ROOM[at["receiver"]] if at["call"] == "send" and limit else 0
    sent = {"unanswered": found, "unanswered_bytes": found * limit}
    return [
        *(make.Series(name, [float(value)], unit="count") for name, value in sent.items() if found),
        *([make.Series("unanswered_waited", [float(found < TRIED)], unit="flag")] if found else []),
        make.Series("tried_bytes", [float(size) for size in sizes], unit="count"),
        make.Series("returned", [float(size <= limit) for size in sizes], unit="flag"),
        make.Series("limit", [float(limit)], unit="count"),
    ]


def series(cell, times=as_claimed, changed=MappingProxyType(CHANGED)):
    if cell.kernel == "eager_limit":
        name, value = REPORTS[cell.environment.name]
        return [
            *search(cell.at, cell.environment.setting, changed),
            make.Series(name, [value], unit="count"),
        ]
    time = UNIT_S * times(*cell.place)
    found = make.timed(cell, range(cell.ranks), time=time)
    if cell.at.get("size_bytes") in AROUND:
        found.append(make.Series("used_bytes", [float(size_of(cell.at))], unit="count"))
    if cell.kernel == "put_ordering" and cell.at["idiom"] != "disjoint":
        share = OLDER if cell.at["idiom"] == "unordered_accumulates" else 0.0
        found.append(make.Series("older", [share] * 10, unit="1"))
    return found


campaign = partial(make.campaign, series, CELLS, environments=ENVIRONMENTS, ranks=(2, 4))
