"""Conformance with known failures."""

from functools import partial

from made_up import generator as make
from onesided.campaign import grid

BASE = {
    "call": "put",
    "operator": "none",
    "element": "int32",
    "count": 3,
    "layout_origin": "vector",
    "layout_target": "indexed",
    "flavor": "allocate",
    "outstanding": 4,
    "window": "roomy",
}
SWAP = {"call": ["compare_and_swap"], "count": ["none"], "layout_target": ["none"]}
#: As in the check: values that are crossed with one axis have the base values of the others.
CROSSES = [
    {"layout_origin": ["plain", "vector"], "layout_target": ["plain", "vector", "indexed"]},
    {"flavor": ["create", "allocate", "dynamic"]},
    {"count": [1, 3, 255]},
    {"outstanding": [4, 254, 255]},
    {"call": ["accumulate"], "operator": ["sum", "max"], "element": ["int32", "double"]},
    {**SWAP, "layout_origin": ["none"], "window": ["roomy", "exact"]},
]
CELLS = grid.points(BASE, CROSSES)


def where(status, **axes):
    """Return a function that gives a status to cells with such values; others are right."""
    return lambda at: status if axes.items() <= at.items() else None


def environment(name, status=lambda at: None, setting="default"):
    """Return an MPI under a setting, with the status of each cell; right cells have none."""

    def statuses(cell):
        found = status(cell.at)
        return ("ok", None) if found is None else (found, f"{found} at {cell.at['layout_target']}")

    return make.Environment(name, name.partition("-")[0], statuses=statuses, setting=setting)


def series(cell):
    return [make.Series("time", [cell.source.uniform(1e-6, 2e-6) for _ in range(2)])]


campaign = partial(make.campaign, series, {"conformance": CELLS}, rounds=1)
