"""Make a campaign of threaded calls and of matrix and vector with known times."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import synthetic_patterns as patterns

MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich"),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0),
)
KERNELS = ("threaded_calls", "matrix_vector")
SAMPLES = 10
UNIT_S = 1e-6
#: Of one thread, over SINGLE.
LEVELS = {"single": 1.0, "funneled": 1.0, "serialized": 1.25, "multiple": 1.5}
#: Of the rate of one stream, by arrangement; both ways there is no gain.
GAINS = {"one_for_all": 1.5, "one_each": 1.75, "processes": 2.0}
#: Speed-ups of a product by variant and threads; of two tasks they are 1.8.
SPEEDUPS = {"rows": {1: 1.0, 2: 1.25, 4: 2.0, 8: 1.0}, "columns": {1: 1.0, 2: 1.8, 4: 3.6, 8: 7.2}}
TASKS = 1.8
SHARE = 0.05

Labels = Mapping[str, str]
Times = Callable[[str, int, Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: object) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, and the thread level of each."""
    if kernel == "matrix_vector":
        several = ("1", "2", "4", "8") if ranks == 1 else ("1", "2")
        return [
            {"variant": variant, "threads": threads, "order": "4096", "level": "funneled"}
            for variant in SPEEDUPS
            for threads in several
            if ranks in (1, 2)
        ]
    wanted = [("one_for_all", "1", level) for level in LEVELS]
    wanted += [("one_each", "1", "multiple"), ("processes", "1", "single")]
    wanted += [(arrangement, "2", "multiple") for arrangement in ("one_for_all", "one_each")]
    if ranks != 2:
        wanted = [("processes", "2", "single")] if ranks == 4 else []
    return [
        {
            "interface": interface,
            "flavor": "allocate" if interface == "put" else "none",
            "direction": direction,
            "arrangement": arrangement,
            "streams": streams,
            "size_bytes": size,
            "level": level,
        }
        for interface in ("isend", "put")
        for direction in ("one_way", "both_ways")
        for size in ("8", "65536")
        for arrangement, streams, level in wanted
    ]


def threads_of(kernel: str, at: Labels) -> int:
    """Return how many threads each rank has."""
    if kernel == "matrix_vector":
        return int(at["threads"])
    return 1 if at["arrangement"] == "processes" else int(at["streams"])


def further(kernel: str, ranks: int, at: Labels, cores: int) -> Mapping[str, object]:
    """Return the level of a cell, and whether its threads outnumber the cores."""
    labels = {name: value for name, value in at.items() if name != "level"}
    return {
        "labels": json.dumps(labels),
        "cell": patterns.cell_id(labels),
        "thread_level": at["level"],
        "test": f"{kernel} %thread_level={at['level']} %ranks={ranks}",
        "oversubscribed": ranks * threads_of(kernel, at) > cores,
    }


def as_claimed(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that bear the source out, in units."""
    if kernel == "matrix_vector":
        alone = SPEEDUPS[at["variant"]][int(at["threads"])]
        return 1000.0 / (alone * (TASKS if ranks == 2 else 1.0))
    time = LEVELS[at["level"]] * (1.0 if at["size_bytes"] == "8" else 10.0)
    if at["streams"] == "1":
        return time
    gain = 1.0 if at["direction"] == "both_ways" else GAINS[at["arrangement"]]
    return time * int(at["streams"]) / gain


def reversed_times(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that contradict it."""
    if kernel == "matrix_vector":
        other = {"rows": "columns", "columns": "rows"}[at["variant"]]
        tasks = 4.0 if ranks == 2 and at["variant"] == "rows" else 1.0
        return as_claimed(kernel, 1, {**at, "variant": other}) * tasks / (2 if ranks == 2 else 1)
    directions = {"one_way": "both_ways", "both_ways": "one_way"}
    time = as_claimed(kernel, ranks, {**at, "direction": directions[at["direction"]]})
    is_apart = at["arrangement"] == "one_each" and at["size_bytes"] == "8"
    return time * (2.0 if is_apart and at["streams"] == "2" else 1.0)


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        found: list[patterns.Sample] = []
        for index in range(SAMPLES):
            for rank in range(ranks):
                time = times(kernel, ranks, at) * UNIT_S * environment.factor
                time *= source.uniform(0.99, 1.0)
                if kernel == "matrix_vector":
                    found.append(("total", "s", rank, index, time))
                    found.append(("reduce_scatter", "s", rank, index, SHARE * time))
                else:
                    found.append(("time", "s", rank, index, time))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": [1, 2, 4], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, further=further, **chosen)
