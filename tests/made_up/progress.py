"""The kernel `progress` with known behaviour."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from made_up import generator as make

LENGTHS_S = (0.0, 0.001, 0.003, 0.01)
HELPER_LENGTHS_S = (0.01, 0.03)
DELTA_S = 2e-4
LATENCY_S = 2e-6
TAU_S = 2e-3
WAITING_PART = "begin"
#: Times of the kernel `baseline`.
BASELINES = {("atomic_add", 8): 5e-9, ("compare_and_swap", 8): 6e-9, ("copy", 8): 1e-9}
BASELINES |= {("copy", 65536): 8e-6}


@dataclass(frozen=True)
class Environment(make.Mpi):
    """One MPI: the behaviour of a cell, by its labels and the setting.

    Attributes:
        behaviour: from labels and setting to ``independent``, ``waits`` or ``delayed``.
        latencies: from labels, setting and thread level to seconds.
    """

    behaviour: Callable[[make.Labels, str], str] = lambda at, setting: "waits"
    latencies: Callable[[make.Labels, str, str], float] = lambda at, setting, level: 1e-7


def grid(
    operations=("put", "get", "accumulate", "fetch_and_op"),
    flavors=("create", "allocate"),
    synchronisations=("lock_exclusive", "lock_all_flush"),
    states="computes",
    size_bytes=8,
):
    """Return the labels of a product of axes, in the kernel's order."""
    return make.points(
        operation=operations,
        flavor=flavors,
        synchronisation=synchronisations,
        data="contiguous",
        size_bytes=size_bytes,
        target_state=states,
        probe_interval_us=100,
    )


def labels(
    operation="put",
    flavor="create",
    synchronisation="lock_exclusive",
    target_state="computes",
    size_bytes=8,
):
    """Return the labels of a cell."""
    (at,) = grid(operation, flavor, synchronisation, target_state, size_bytes)
    return at


def quick():
    """Return roughly the cells that the quick campaign declares."""
    return [
        *grid(),
        *grid(synchronisations="lock_all_flush", states=("idle", "helper_blocked")),
        *grid(states="computes_probing"),
        *grid(("put", "fetch_and_op"), synchronisations=("fence", "lock_all_flush_local")),
        *grid("put", synchronisations="lock_all_flush", size_bytes=65536),
    ]


def allocate_and_flush(at, setting="default"):
    """Behave like an MPI that is independent only on allocated windows with a flush.

    With a helper or the setting async_thread, other accesses are delayed; without, they wait.
    """
    if at["flavor"] == "allocate" and at["synchronisation"] == "lock_all_flush":
        return "independent"
    helped = at["target_state"] != "computes" or setting == "async_thread"
    return "delayed" if helped else "waits"


def by_level(at, setting, level):
    """Return higher latencies at multiple, in exclusive locks and with a progress thread."""
    latency = 5e-8 if at["synchronisation"] == "lock_all_flush" else 4e-7
    latency *= 10 if level == "multiple" else 1
    return latency * (2 if setting == "async_thread" else 1)


def crash_once(cell):
    is_it = (cell.at.get("operation"), cell.setting, cell.turn) == ("accumulate", "async_thread", 3)
    return ("crash", "rank 1: signal 11") if is_it else ("ok", None)


def waits_when_created(at, setting):
    return "waits" if at["flavor"] == "create" else "independent"


ENVIRONMENTS = (
    Environment(make.MPICH, "mpich", allocate_and_flush, by_level),
    Environment(make.OPENMPI, "openmpi", waits_when_created, by_level),
    Environment(make.IMPI, "impi", allocate_and_flush, by_level, statuses=crash_once),
    Environment("<b>none</b>", "other", unavailable="wheel <i>not</i> found\nexport EVIL=1"),
)


def _elapsed(behaviour, remaining, source):
    latency = LATENCY_S * source.uniform(0.8, 1.4)
    if behaviour == "waits":
        return remaining + latency
    if behaviour == "delayed":
        return min(remaining, TAU_S * source.uniform(0.9, 1.1)) + latency
    return latency


def series(cell):
    """Yield the series of a cell in one launch."""
    if cell.kernel == "baseline":
        time = BASELINES[cell.at["baseline"], int(cell.at["size_bytes"])]
        yield make.Series("time", [time] * 5, 1, burst=100)
        return
    at, source = cell.at, cell.source
    behaviour = cell.environment.behaviour(at, cell.setting)
    latency = cell.environment.latencies(at, cell.setting, cell.level)
    lengths = HELPER_LENGTHS_S if at["target_state"].startswith("helper") else LENGTHS_S
    order = [length for length in lengths for _ in range(2)]
    source.shuffle(order)
    found: dict[str, list[float]] = defaultdict(list)
    for length in order:
        lasts = length * source.uniform(1.0, 1.02)
        remaining = lasts - DELTA_S * source.uniform(1.0, 1.1)
        idle = at["target_state"] == "idle"
        elapsed = _elapsed("independent" if idle else behaviour, max(remaining, 0.0), source)
        parts = dict.fromkeys(("begin", "issue", "complete"), 0.1 * LATENCY_S)
        parts[WAITING_PART] = elapsed - 2 * 0.1 * LATENCY_S
        if at["target_state"] in ("computes_probing", "polls_memory"):
            parts["visits"] = float(round(elapsed / 1e-4))
            parts["visits_remaining"] = float(round(max(remaining, 0) / 1e-4))
        parts |= {"valid": float(remaining > 0), "elapsed": elapsed, "remaining": remaining}
        parts |= {"compute_requested": length, "compute": lasts}
        for metric, value in parts.items():
            found[metric].append(value)
    units = {"valid": "1", "visits": "count", "visits_remaining": "count"}
    for metric, values in found.items():
        yield make.Series(metric, values, 1, units.get(metric, "s"))
    bursts = [latency * source.uniform(0.95, 1.05) for _ in range(5)]
    yield make.Series("latency", bursts, 1, burst=100)


def further(cell, cores):
    if cell.kernel == "baseline":
        return {"test": "Baseline %thread_level=single"}
    test = f"ProgressQuick %setting={cell.setting} %thread_level={cell.level} %ranks=2"
    crowded = cell.at["target_state"].startswith("helper")
    return {"test": test} | ({} if cell.environment.unavailable else {"oversubscribed": crowded})


def campaign(
    folder,
    environments=ENVIRONMENTS,
    cells=None,
    settings=("default", "async_thread"),
    levels=("single", "multiple"),
    rounds=6,
    baseline=False,
):
    """Write the campaign (`generator.campaign`); return the folder."""

    def cells_of(launch):
        if launch.kernel == "baseline":
            is_first = (launch.setting, launch.level) == (settings[0], levels[0])
            return [{"baseline": b, "size_bytes": str(n)} for b, n in BASELINES if is_first]
        return [
            at
            for at in cells or quick()
            if launch.level == "multiple" or not at["target_state"].startswith("helper")
        ]

    return make.campaign(
        series,
        cells_of,
        folder,
        environments,
        ("progress", "baseline") if baseline else ("progress",),
        settings=settings,
        levels=levels,
        rounds=rounds,
        further=further,
    )


def use_cores(folder, rounds):
    """Let another guest use the origin's core in these rounds: latencies are twice as high."""
    path = folder / "samples.parquet"
    samples, used = pl.read_parquet(path), pl.col("round").is_in(rounds)
    latencies = samples.filter(metric="latency").with_columns(value=pl.col("value") * (1 + used))
    widths = latencies.with_columns(
        metric=pl.lit("core_width"), value=pl.when(used).then(1.5).otherwise(2.9)
    )
    others = samples.filter(pl.col("metric") != "latency")
    pl.concat([others, latencies, widths]).write_parquet(path)
