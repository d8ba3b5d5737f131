"""The five patterns with known times and known waits."""

import math
from dataclasses import dataclass
from functools import partial

from made_up import generator as make

KERNELS = ("distant_messages", "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all")
RIVALS = {"distant_messages": "two_sided", "right_shift": "two_sided"}
SIZES = (8, 1000, 10000, 1000000)
TRIALS = 51
SHMEM_S = 1e-6
#: Times as multiples of SHMEM's, by interface; all have two Gbyte/s.
TIMES = {
    "shmem": 1.0,
    "mpi2": 6.0,
    "mpi2_pairwise": 6.0,
    "mpi3": 2.0,
    "two_sided": 3.0,
    "collective": 3.0,
}
BYTES_PER_S = 2e9
FLAVORS = {
    "mpi2": ("create", "allocate"),
    "mpi2_pairwise": "create",
    "mpi3": ("create", "allocate"),
}
NOISE = {"compute": (1.0, 1.5), "issue": (1.0, 1.2), "quick": (0.9, 1.2)}


@dataclass(frozen=True)
class Environment(make.Environment):
    """One MPI or OpenSHMEM, with its interfaces."""

    interfaces: tuple[str, ...] = ("mpi2", "mpi3", "rival")


ENVIRONMENTS = (
    Environment(make.MPICH, "mpich"),
    Environment(make.OPENMPI, "openmpi", factor=1.5, waits=make.never),
    Environment(make.IMPI, "impi", waits=make.always),
    Environment("openshmem-debian", "openshmem", interfaces=("shmem",), waits=make.never),
)


def law(kernel, ranks):
    """Return the factor of a pattern's time by the number of ranks; 1 with two."""
    if kernel in ("naive_broadcast", "all_to_all"):
        return ranks - 1.0
    return math.log2(ranks) if kernel == "tree_broadcast" else 1.0


def targets(ranks):
    """Return the ranks from which messages come: at most 16, spread evenly, as in the check."""
    number = min(ranks - 1, 16)
    return [1 + round(at * (ranks - 2) / max(1, number - 1)) for at in range(number)]


def time_s(kernel, ranks, at, factor):
    time = SHMEM_S * TIMES[at["interface"]] * factor
    time *= 1.4 if at.get("operation") == "put" else 1.3 if at.get("order") == "unrotated" else 1.0
    return (time + int(at["size_bytes"]) / BYTES_PER_S) * law(kernel, ranks)


def cells_of(launch):
    rival = RIVALS.get(launch.kernel, "collective")

    def of(*values):
        return lambda at: "none" if at["interface"] == rival else values

    others = {
        "tree_broadcast": {"operation": of("get", "put")},
        "all_to_all": {"order": of("rotated", "unrotated")},
        "distant_messages": {"target": targets(launch.ranks)},
    }
    interfaces = [rival if one == "rival" else one for one in launch.environment.interfaces]
    if launch.kernel == "tree_broadcast" and "mpi2" in interfaces:
        interfaces.insert(1, "mpi2_pairwise")
    found = make.points(
        interface=interfaces,
        flavor=lambda at: FLAVORS.get(at["interface"], "none"),
        **others.get(launch.kernel, {}),
        size_bytes=lambda at: SIZES if at["interface"] == "mpi2_pairwise" else (*SIZES, 0),
        target_state="takes_part",
    )
    computes = {"size_bytes": "8", "target_state": "computes"}
    return [at if at["size_bytes"] != "0" else at | computes for at in found]


def computing_rank(kernel, ranks, at):
    if kernel == "distant_messages":
        return int(at["target"])
    if kernel == "tree_broadcast":
        return ranks // 2 if ranks > 2 else int(at["operation"] == "put")
    return 0


def behind(kernel, ranks, at):
    """Return the ranks whose part needs a call of the computing rank."""
    every = set(range(ranks)) - {computing_rank(kernel, ranks, at)}
    if at.get("interface", "mpi3") not in ("mpi3", "shmem"):
        return every
    below = kernel == "tree_broadcast" and ranks > 2
    return {rank for rank in every if rank > ranks // 2} if below else set()


def series(cell, trials=TRIALS):
    if cell.at["target_state"] == "computes":
        held = behind(*cell.place)
        late = range(cell.ranks) if cell.waits else held
        return make.meetings(cell, late, held, computing=computing_rank(*cell.place), noise=NOISE)
    factor = cell.environment.factor
    found = make.timed(cell, [0], trials, (0.98, 1.02), time=time_s(*cell.place, factor) / factor)
    found[0].samples[0] *= 100
    found[0].samples[7] *= 3  # one spike in 50 trials: a share of 2 %
    return found


campaign = partial(
    make.campaign,
    series,
    cells_of,
    environments=ENVIRONMENTS,
    kernels=KERNELS,
    ranks=(2, 4, 8),
)
