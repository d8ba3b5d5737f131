"""Mutexes and linked lists of the study of MPI-3's one-sided interface: known times and waits."""

from functools import partial

from made_up import generator as make

ENVIRONMENTS = (
    make.Environment(make.MPICH, "mpich", waits=make.always),
    make.Environment(make.OPENMPI, "openmpi", factor=2.0, waits=make.never),
)
MCS_S = 1e-6
#: Times behind the source's claims, in units of MCS.
ALGORITHMS = {"byte_vector": 10.0, "mcs": 1.0, "mcs_shared_locks": 2.5, "compare_and_swap": 0.5}
IDIOMS = {"exclusive": 1.5, "shared": 2.0, "lock_all": 1.0}
#: Factors by which a mutex is faster if no other rank wants it.
ALONE = {"byte_vector": 8.0, "mcs": 2.0, "mcs_shared_locks": 2.0, "compare_and_swap": 2.0}
FAIR = {"byte_vector": 0.99, "mcs": 0.98, "mcs_shared_locks": 0.97, "compare_and_swap": 0.2}
CELLS = {
    "mutex": make.points(
        algorithm=ALGORITHMS,
        flavor="allocate",
        section="memory",
        target_state=("takes_part", "idle", "computes"),
    ),
    "linked_list": make.points(
        operation=("append", "read", "write"),
        idiom=IDIOMS,
        target_state=lambda at: "none" if at["operation"] == "append" else ("idle", "computes"),
    ),
}
KERNELS = tuple(CELLS)


def as_claimed(kernel, ranks, at):
    """Return times that support the source; the list's times grow with the square of the ranks."""
    if kernel == "mutex":
        one = at["algorithm"]
        return ALGORITHMS[one] / (ALONE[one] if at["target_state"] == "idle" else 1.0)
    return IDIOMS[at["idiom"]] * ((ranks / 2) ** 2 if at["operation"] == "append" else 1.0)


def series(cell, times=as_claimed):
    if cell.at["target_state"] == "computes":
        last = [cell.ranks - 1]
        return make.meetings(cell, last if cell.waits else (), (), last, samples=7)
    found = make.timed(cell, range(cell.ranks), time=MCS_S * times(*cell.place))
    if cell.at["target_state"] == "takes_part":
        found.append(make.Series("fairness", [FAIR[cell.at["algorithm"]]] * 10, unit="1"))
    return found


campaign = partial(make.campaign, series, CELLS, environments=ENVIRONMENTS, ranks=(2, 4))
