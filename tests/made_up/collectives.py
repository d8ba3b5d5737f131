"""Three experiments of SG24-5611 on collectives, with known times."""

from functools import partial

from made_up import generator as make

UNIT_S = 1e-5
#: Times that support the source's claims, by way; times of a transpose's communication.
TIMES = {
    "alltoall_algorithms": {
        "ready_all": 1.5, "ready_others": 1.1, "sendrecv_ring": 1.3, "alltoall": 1.0,
        "put_lock_all": 2.0, "put_fence": 3.0,
    },
    "transpose": {
        "bsend_columns": 1.5, "bsend_block": 1.2, "bsend_barrier": 1.1, "bsend_column_row": 2.7,
        "bsend_row_column": 3.2, "pack_columns": 1.5, "alltoall": 1.4, "put_fence": 0.6,
    },
    "hierarchical_collectives": {
        "reduce_bcast": 3.0, "reduce": 1.0, "bcast": 1.0,
        "allreduce": 2.0, "hierarchical_allreduce": 1.0,
        "barrier": 2.0, "hierarchical_barrier": 1.0,
        "alltoall": 2.0, "hierarchical_alltoall": 1.0,
    },
}  # fmt: skip
KERNELS = tuple(TIMES)
LOCAL, FOURIER = 0.4, 1.7
#: Sizes that a kernel finds or computes, and their factor of a time by the number of ranks.
LIMIT = 4016
OF_WHOLE = {"of_vector": lambda ranks: 2 / ranks, "of_matrix": lambda ranks: (2 / ranks) ** 2}
JUMP = {"4104": 1.5, "above_limit": 1.5}
WORDS = {"sendrecv_ring": ("at_limit", "above_limit", 4104)}
WORDS["alltoall"] = (*WORDS["sendrecv_ring"], *OF_WHOLE)
#: Times of calls that no other call answers, in turn.
UNPAIRED = (0.5, 1.0, 2.0, 3.0, 4.0)
STEADY = (0.999, 1.0, 1.0, 1.0, 1.001)
BY_MPI = ("bsend_column_row", "bsend_row_column")


def cells_of(launch):
    ways = [way for way in TIMES[launch.kernel] if way != "bsend_barrier" or launch.ranks > 2]
    axes = {"flavor": lambda at: "allocate" if at["interface"].startswith("put") else "none"}
    if launch.kernel == "transpose":
        return make.points(interface=ways, **axes, order=(128, 256))
    return make.points(
        interface=ways,
        **(axes if launch.kernel == "alltoall_algorithms" else {}),
        size_bytes=lambda at: (
            "none"
            if at["interface"].endswith("barrier")
            else (
                *(8, 4096, 262144),
                *(WORDS.get(at["interface"], ()) if launch.kernel == "alltoall_algorithms" else ()),
            )
        ),
    )


def as_claimed(kernel, ranks, at):
    """Return times that support the source; the gap of ready sends shrinks with the ranks."""
    time = TIMES[kernel][at["interface"]]
    if at["interface"] == "ready_all":
        time = TIMES[kernel]["ready_others"] * (1 + 0.8 / ranks)
    size = at.get("size_bytes")
    time *= JUMP.get(size, 1.0) * OF_WHOLE.get(size, lambda ranks: 1.0)(ranks)
    return time * ranks / 2 * (2 if at["interface"] == "ready_others" and ranks == 8 else 1)


def reversed_times(kernel, ranks, at):
    """Return times that contradict the source: slower ways are faster."""
    return 1 / as_claimed(kernel, ranks, at) * (ranks / 2)


def series(cell, times=as_claimed, bursts=10):
    time = UNIT_S * times(*cell.place)
    if cell.at["interface"] in ("reduce", "bcast"):
        turns = UNPAIRED if times is as_claimed else STEADY
        turns = [cell.environment.factor * time * turn for turn in (turns * 2)[:bursts]]
        return [make.Series("time", turns, rank=rank) for rank in range(cell.ranks)]
    if cell.kernel != "transpose":
        found = make.timed(cell, range(cell.ranks), time=time)
        size = str(cell.at["size_bytes"])
        if cell.kernel == "alltoall_algorithms" and not size.isdecimal():
            whole = OF_WHOLE[size](cell.ranks) * 262144 if size in OF_WHOLE else LIMIT
            found.append(make.Series("used_bytes", [float(whole)], unit="count"))
        return found
    parts = {
        "communication": time,
        "local": LOCAL * UNIT_S / (cell.ranks if cell.at["interface"] in BY_MPI else 1),
        "fourier": FOURIER * UNIT_S,
    }
    return make.timed(cell, range(cell.ranks), time=sum(parts.values()), **parts)


campaign = partial(make.campaign, series, cells_of, kernels=KERNELS)
