"""Halo and adapter sharing with known times."""

from functools import partial

from made_up import generator as make

UNIT_S = 1e-5
#: Times of an exchange, by way.
WAYS = {"sendrecv_steps": 2.0, "isend": 3.0, "neighbor_alltoallw": 4.0, "put_fence": 1.0}
MESSAGES = {"2": 8.0, "3": 26.0}
#: The latency that another pair adds, and the exponent of the bandwidth of pairs.
ADDED, EXPONENT = 0.25, 1.0
PUBLISHED = 494 / 281


#: Times of an update: threads by tasks. All tasks' messages grow with the root of their number.
THREADS = {1: 2, 2: 1, 4: (1, 4), 16: 1}
SENT_POWER = 0.5


def cells_of(launch):
    if launch.ranks > 4 and launch.kernel == "adapter_sharing":
        return []
    if launch.kernel == "adapter_sharing":
        return make.points(
            interface="synchronous",
            flavor="none",
            arrangement=("processes", "threads") if launch.ranks == 2 else "processes",
            pairs=lambda at: launch.ranks // 2 if at["arrangement"] == "processes" else 1,
            size_bytes=(8, 65536),
        )
    exchanges = make.points(
        interface=WAYS,
        flavor=lambda at: "allocate" if at["interface"] == "put_fence" else "none",
        dimensions=(2, 3),
        side=16,
        work="exchange",
        threads="none",
    )
    update = make.points(
        interface="sendrecv_steps",
        flavor="none",
        dimensions=2,
        side=512,
        work="update",
        threads=THREADS[launch.ranks],
    )
    return (exchanges if launch.ranks in (2, 4) else []) + update


def as_claimed(kernel, ranks, at):
    if kernel == "adapter_sharing":
        pairs = int(at["pairs"])
        return 1 + (pairs - 1) * ADDED if at["size_bytes"] == "8" else 10.0 * pairs**EXPONENT
    if at["work"] == "update" and ranks > 4:
        return 2 * as_claimed(kernel, 4, at)
    return WAYS[at["interface"]] * (PUBLISHED if at["work"] == "update" and ranks > 1 else 1.0)


def reversed_times(kernel, ranks, at):
    """Return times that contradict the source: more tasks are faster."""
    return as_claimed(kernel, 1, at) / ranks**2


def series(cell, times=as_claimed, sent_power=SENT_POWER):
    at, ranks = cell.at, range(cell.ranks)
    if cell.kernel == "halo":
        in_steps = at["interface"].endswith("_steps")
        messages = 2.0 * int(at["dimensions"]) if in_steps else MESSAGES[at["dimensions"]]
        yield make.Series("messages", [messages], unit="count")
        power = sent_power if at["work"] == "update" else 1
        yield make.Series("sent_bytes", [1000.0 * cell.ranks**power], unit="count")
    time = UNIT_S * times(*cell.place)
    if at.get("work") == "update":
        yield from make.timed(cell, ranks, communication=time, time=3 * time)
    else:
        yield from make.timed(cell, ranks, time=time)


campaign = partial(
    make.campaign, series, cells_of, kernels=("halo", "adapter_sharing"), ranks=(1, 2, 4, 16)
)
