"""Operations that leave at their call or later, with known shares."""

from functools import partial

from made_up import generator as make

CELLS = make.points(
    epoch=("lock", "exclusive_lock", "flush"),
    operation="put",
    flavor="create",
    pause=("computes", "probes"),
    operations=(1, 64),
    size_bytes=(8, 65536),
)


def as_claimed(at):
    """Return the shares of a library that keeps only short epochs: 0 of those, all of others."""
    return 0.0 if at["operations"] == "1" and at["size_bytes"] == "8" else 1.0


def series(cell, early=as_claimed):
    """Return a share of the operations in each of five samples, and the time of the last call."""
    share = early(cell.at)
    yield make.Series("early", [share] * 5, 1, unit="1")
    yield make.Series("completing", [1e-6 if share else 1e-4] * 5, 1)


campaign = partial(make.campaign, series, {"issue": CELLS})
