"""Memory models, ordering and window growth with known times and waits."""

from functools import partial

from made_up import generator as make

INTERVALS_US = (100, 500, 2000)
#: Times of a pair under each idiom of ordering; of a write that no epoch of rank 0 delays.
PAIR_S = {
    "exclusive_epochs": 10e-6,
    "shared_epochs": 8e-6,
    "flush": 4e-6,
    "request": 4.5e-6,
    "ordered_accumulates": 3e-6,
    "unordered_accumulates": 2e-6,
}
IDIOMS = {
    "memory_model": ("exclusive_locks", "shared_locks", "lock_all", "lock_all_request"),
    "ordering": tuple(PAIR_S),
}
METHODS = ("create", "allocate", "allocate_shared", "attach")
SIZES = {"ordering": (8, 1024, 32768), "window_growth": (1 << 10, 1 << 18, 1 << 24)}
WRITE_S, STORE_S = 1e-6, 1e-8
#: Times of a re-created window, of the copy of a byte, and of an attach.
MAKE_S, BYTE_S, ATTACH_S = 30e-6, 1e-10, 1e-7
OLDER = 0.25

ENVIRONMENTS = (
    make.Environment(make.MPICH, "mpich", waits=make.never),
    make.Environment(make.IMPI, "impi", factor=2.0, waits=make.always),
)


def sized(kernel, **ways):
    """Return cells of each size; the least size also has cells with a computing target."""
    least = str(SIZES[kernel][0])
    return make.points(
        **ways,
        size_bytes=SIZES[kernel],
        target_state=lambda at: ("idle", "computes") if at["size_bytes"] == least else "idle",
    )


def ways_of(kernel):
    return {
        "idiom": (*IDIOMS[kernel], "stores"),
        "flavor": lambda at: "none" if at["idiom"] == "stores" else "allocate",
    }


CELLS = {
    "memory_model": make.points(
        **ways_of("memory_model"),
        size_bytes=8,
        target_state=("idle", "computes", "accesses"),
        interval_us=lambda at: INTERVALS_US if at["target_state"] == "accesses" else "none",
    ),
    "ordering": sized("ordering", **ways_of("ordering")),
    "window_growth": sized("window_growth", method=METHODS),
}
KERNELS = tuple(CELLS)
#: Windows that a library cannot put into shared memory.
CREATED = [{**at, "flavor": "create"} for at in CELLS["ordering"] if at["flavor"] == "allocate"]


def time_s(kernel, ranks, at, waits):
    """Return the time that a cell's table shows."""
    if kernel == "window_growth":
        re_created = (MAKE_S + int(at["size_bytes"]) * BYTE_S) * ranks / 2
        return ATTACH_S if at["method"] == "attach" else re_created
    if at["idiom"] == "stores":
        return STORE_S
    if kernel == "ordering":
        return PAIR_S[at["idiom"]] + int(at["size_bytes"]) * BYTE_S
    delayed = at["target_state"] == "accesses" and (waits or at["idiom"] == "exclusive_locks")
    return WRITE_S + (1e-6 * float(at["interval_us"]) * (ranks - 1) if delayed else 0)


def series(cell, cut=0.0):
    """Yield the series of a cell; `cut` is the share of epochs that exclusive locks cut."""
    at, kernel, ranks = cell.at, cell.kernel, range(1, cell.ranks)
    waits = cell.waits
    if at["target_state"] == "computes":
        needs = at.get("idiom") == "exclusive_locks" or at.get("method", "attach") != "attach"
        behind = ranks if needs and kernel != "ordering" else ()
        late = ranks if waits and at.get("method") != "attach" else behind
        yield from make.meetings(cell, late, behind, noise={"compute": (1.0, 1.5)})
        return
    metric = {"memory_model": "write", "ordering": "pair", "window_growth": "grow"}[kernel]
    timing = range(0 if kernel == "window_growth" else 1, cell.ranks)
    time = {metric: time_s(kernel, cell.ranks, at, waits)}
    yield from make.timed(cell, timing, 5, (0.99, 1.01), **time)
    if kernel == "ordering":
        share = OLDER if at["idiom"] == "unordered_accumulates" else 0.0
        yield make.Series("older", [share] * 5, 1, "1")
    elif kernel == "window_growth":
        parts = ("exchange", "detach") if at["method"] == "attach" else ("make", "copy")
        for part, time_of_part in (("close", MAKE_S), *((part, ATTACH_S) for part in parts)):
            yield make.Series(part, [time_of_part] * 5)
    elif at["target_state"] == "accesses":
        yield make.Series("epoch", [1e-6 * float(at["interval_us"])] * 5)
        is_cut = cut if at["idiom"] == "exclusive_locks" else 0.0
        yield make.Series("cut", [is_cut] * 5, unit="flag")


campaign = partial(make.campaign, series, CELLS, environments=ENVIRONMENTS, ranks=(2, 4))
