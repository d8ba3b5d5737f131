"""Threaded calls, and matrix and vector, with known times."""

import json
from functools import partial

from made_up import generator as make

UNIT_S = 1e-6
#: Times of one thread as multiples of SINGLE.
LEVELS = {"single": 1.0, "funneled": 1.0, "serialized": 1.25, "multiple": 1.5}
#: Factors of one stream's rate, by arrangement; in both directions there is no gain.
GAINS = {"one_for_all": 1.5, "one_each": 1.75, "processes": 2.0}
#: Speed-ups of a product by variant and threads; with two tasks they are 1.8.
SPEEDUPS = {"rows": {1: 1.0, 2: 1.25, 4: 2.0, 8: 1.0}, "columns": {1: 1.0, 2: 1.8, 4: 3.6, 8: 7.2}}
TASKS = 1.8
#: Times of a small product whose threads are created, in units.
MASTERS = {"columns_created": 30.0, "columns_lazy": 50.0}
SHARE = 0.05
#: Arrangement, streams and level, by the number of ranks.
STREAMS = {
    2: [
        *(("one_for_all", 1, level) for level in LEVELS),
        ("one_each", 1, "multiple"),
        ("processes", 1, "single"),
        ("one_for_all", 2, "multiple"),
        ("one_each", 2, "multiple"),
    ],
    4: [("processes", 2, "single")],
}


def cells_of(launch):
    """Return the labels of the cells, and the thread level of each cell."""
    if launch.kernel == "matrix_vector":
        threads = {1: (1, 2, 4, 8), 2: (1, 2)}.get(launch.ranks, ())
        own = make.points(variant=SPEEDUPS, threads=threads, order=4096, level="funneled")
        few = 2 if launch.ranks == 1 else ()
        return own + make.points(variant=MASTERS, threads=few, order=256, level="funneled")
    ways = make.points(
        interface=("isend", "put"),
        flavor=lambda at: "allocate" if at["interface"] == "put" else "none",
        direction=("one_way", "both_ways"),
        size_bytes=(8, 65536),
    )
    return [
        {
            **{axis: at[axis] for axis in ("interface", "flavor", "direction")},
            "arrangement": arrangement,
            "streams": str(streams),
            "size_bytes": at["size_bytes"],
            "level": level,
        }
        for at in ways
        for arrangement, streams, level in STREAMS.get(launch.ranks, ())
    ]


def further(cell, cores):
    """Return a cell's level, and whether its threads outnumber the cores."""
    labels = {name: value for name, value in cell.at.items() if name != "level"}
    level = cell.at["level"]
    threads = labels.get("threads") or labels["streams"]
    own = 1 if labels.get("arrangement") == "processes" else int(threads)
    return {
        "labels": json.dumps(labels),
        "cell": make.cell_id(labels),
        "thread_level": level,
        "test": f"{cell.kernel} %thread_level={level} %ranks={cell.ranks}",
        "oversubscribed": cell.ranks * own > cores,
    }


def as_claimed(kernel, ranks, at):
    if at.get("variant") in MASTERS:
        return MASTERS[at["variant"]]
    if kernel == "matrix_vector":
        alone = SPEEDUPS[at["variant"]][int(at["threads"])]
        return 1000.0 / (alone * (TASKS if ranks == 2 else 1.0))
    time = LEVELS[at["level"]] * (1.0 if at["size_bytes"] == "8" else 10.0)
    if at["streams"] == "1":
        return time
    gain = 1.0 if at["direction"] == "both_ways" else GAINS[at["arrangement"]]
    return time * int(at["streams"]) / gain


def reversed_times(kernel, ranks, at):
    """Return times that contradict the source."""
    if at.get("variant") in MASTERS:
        return 1 / as_claimed(kernel, ranks, at)
    if kernel == "matrix_vector":
        other = {"rows": "columns", "columns": "rows"}[at["variant"]]
        tasks = 4.0 if ranks == 2 and at["variant"] == "rows" else 1.0
        return as_claimed(kernel, 1, {**at, "variant": other}) * tasks / (2 if ranks == 2 else 1)
    directions = {"one_way": "both_ways", "both_ways": "one_way"}
    time = as_claimed(kernel, ranks, {**at, "direction": directions[at["direction"]]})
    is_apart = at["arrangement"] == "one_each" and at["size_bytes"] == "8"
    return time * (2.0 if is_apart and at["streams"] == "2" else 1.0)


def series(cell, times=as_claimed):
    time, ranks = UNIT_S * times(*cell.place), range(cell.ranks)
    if cell.kernel == "matrix_vector":
        return make.timed(cell, ranks, total=time, reduce_scatter=SHARE * time)
    return make.timed(cell, ranks, time=time)


campaign = partial(
    make.campaign,
    series,
    cells_of,
    kernels=("threaded_calls", "matrix_vector"),
    ranks=(1, 2, 4),
    further=further,
)
