"""Overlap with known efficiencies."""

from functools import partial

from made_up import generator as make

ALONE_S, COMPUTE_S = 1e-4, 0.8e-4
CELLS = make.points(
    transfer=("isend", "put", "thread_put"),
    flavor=lambda at: "none" if at["transfer"] == "isend" else "allocate",
    size_bytes=(1 << 20, 1 << 24),
    peer=lambda at: (
        "sleeps" if at["transfer"] == "thread_put" else ("in_mpi", "computes", "sleeps")
    ),
)
OUTPUT = {
    "way": ("posix", "iwrite_at", "thread_posix", "thread_write_at"),
    "workers": lambda at: "1" if at["way"].startswith("thread") else "none",
    "until": ("cache", "device"),
    "storage": "disk",
}
#: Efficiencies of output with rank 0 alone.
STEPS = make.points(
    **OUTPUT, size_bytes=(1 << 20, 1 << 24), meanwhile="computes", message_bytes="none"
)
#: Efficiencies of output beside messages of two ranks.
BESIDE = make.points(
    **OUTPUT, size_bytes=1 << 20, meanwhile="exchanges", message_bytes=(4096, 65536)
)


def cells_of(launch):
    by_ranks = {1: STEPS, 2: BESIDE} if launch.kernel == "overlapped_output" else {2: CELLS}
    return by_ranks.get(launch.ranks, [])


def is_beside(at):
    return at.get("meanwhile") == "exchanges"


def is_by_thread(at):
    return at.get("transfer", at.get("way")).startswith("thread")


def as_claimed(at):
    """Return efficiencies that support the source: a thread hides nearly all of a compute."""
    if is_beside(at):
        return 0.3
    return 0.9 if is_by_thread(at) else 0.05


def reversed_efficiencies(at):
    """Return efficiencies that contradict it: a thread only disturbs, and a device does not."""
    if is_beside(at):
        return 0.97 if at["until"] == "device" else -0.4
    return -0.4 if is_by_thread(at) else 0.95


def series(cell, hidden=as_claimed):
    unit = cell.environment.factor * cell.source.uniform(0.99, 1.01)
    rank, first = (1, "transfer") if cell.kernel == "overlap" else (0, "output")
    both_s = ALONE_S + COMPUTE_S - hidden(cell.at) * min(ALONE_S, COMPUTE_S)
    times = {first: ALONE_S, "compute": COMPUTE_S, "both": both_s}
    timed = [make.Series(metric, [unit * time_s] * 5, rank) for metric, time_s in times.items()]
    return [make.Series("length", [COMPUTE_S], rank), *timed]


campaign = partial(
    make.campaign, series, cells_of, kernels=("overlap", "overlapped_output"), ranks=(1, 2)
)
