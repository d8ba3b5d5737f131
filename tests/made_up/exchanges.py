"""The three exchanges with known times."""

import math
from functools import partial

from made_up import generator as make

TWO_SIDED = {
    "latency_bandwidth": ("synchronous", "asynchronous", "synchronous_same_buffers"),
    "swapped_all_to_all": ("alltoall", "alltoallw", "alltoall_same_buffers"),
    "some_to_some": ("synchronous", "asynchronous", "asynchronous_same_buffers"),
}
ONE_SIDED = {
    "latency_bandwidth": ("put_lock_all", "put_pscw", "get_lock_all", "get_pscw"),
    "swapped_all_to_all": ("put_lock_all", "put_fence"),
    "some_to_some": ("put_pscw", "put_lock_all", "put_fence"),
}
KERNELS = tuple(TWO_SIDED)
SIZES = (8, 40, 4096, 32768, 50000, 262144, 1000000, 20000000)
#: Start-up and bandwidth of two-sided and one-sided ways; the curves meet at 30 kB.
START_S = {False: 1e-6, True: 4e-6}
BYTES_PER_S = {False: 5e9, True: 10e9}
CROSSOVER_BYTES = 30000
CHECKSUM = 0x1234ABCD


def is_one_sided(at):
    return at["flavor"] != "none"


def size_of(at):
    return int(at.get("size_bytes") or at["largest_bytes"])


def messages_of(at):
    return 2 if at.get("sides") == "double" else 1


def cells_of(launch):
    to_some = launch.kernel == "some_to_some"
    axes = {"sides": ("single", "double"), "largest_bytes": SIZES}
    return make.points(
        interface=(*TWO_SIDED[launch.kernel], *ONE_SIDED[launch.kernel]),
        flavor=lambda at: (
            "none" if at["interface"] in TWO_SIDED[launch.kernel] else ("create", "allocate")
        ),
        **(axes if to_some else {"size_bytes": SIZES}),
    )


def time_s(kernel, ranks, at):
    """Return the time of a cell; the first way of each side is the fastest."""
    one_sided = is_one_sided(at)
    names = (ONE_SIDED if one_sided else TWO_SIDED)[kernel]
    slower = 1 + names.index(at["interface"]) + (at["flavor"] == "create")
    time = START_S[one_sided] + messages_of(at) * size_of(at) / BYTES_PER_S[one_sided]
    return slower * (ranks - 1) * time


def always_faster(kernel, ranks, at):
    """Return times in which one-sided ways always take half of the others."""
    two_sided = {**at, "interface": TWO_SIDED[kernel][0], "flavor": "none"}
    return time_s(kernel, ranks, two_sided) * (0.5 if is_one_sided(at) else 1.0)


def series(cell, times=time_s, checksum=lambda environment: CHECKSUM):
    ranks = range(1 if cell.kernel == "latency_bandwidth" else cell.ranks)
    time = times(*cell.place)
    for one in make.timed(cell, ranks, samples=5, noise=(0.98, 1.0), time=time):
        yield make.Series("time", [(1 - 0.1 * one.rank) * value for value in one.samples], one.rank)
    if cell.kernel == "some_to_some":
        sent = float(messages_of(cell.at) * cell.ranks * size_of(cell.at))
        yield make.Series("pass_bytes", [sent], unit="count")
        yield make.Series("map_checksum", [float(checksum(cell.environment.name))], unit="1")


campaign = partial(make.campaign, series, cells_of, kernels=KERNELS, ranks=(2, 4, 8))


def placed(folder, slower, cores=8, **options):
    """Write a campaign with a partition for each number of ranks per node.

    Args:
        folder: the folder to write.
        slower: the factor of all times, by the number of ranks per node.
        cores: the cores of a node.
        options: of `campaign`.
    """

    def partition(per_node, factor):
        def on_nodes(cell, cores):
            on_node = min(per_node, cell.ranks)
            return {"nodes": math.ceil(cell.ranks / per_node), "oversubscribed": on_node > cores}

        return campaign(
            folder / f"{per_node}",
            times=lambda *place: factor * time_s(*place),
            partition=f"by_{per_node}",
            further=on_nodes,
            cores=cores,
            **options,
        )

    return make.together(folder, [partition(*each) for each in slower.items()])
