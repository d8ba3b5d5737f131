"""What the machine itself takes: a baseline over all launches on it, whichever MPI started them.

A baseline needs no MPI, so that every launch of it is a replicate. Its values come in kinds, by
where the host had put the ranks: on one virtual machine a copy of 8 bytes took 3 to 5.5 ns in 15 of
18 launches and 18 ns in the others. One environment has one launch a round, and the median of six
such launches may lie between two kinds, where no launch is.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from onesided.campaign.tables import IDENTITY, LAUNCH, PLACE
from onesided.measure.latencies import LEAST_SHARE

MACHINE, MACHINE_OTHER = "machine", "machine_other"
"""Statistics of a baseline: the launches of the kind that counts, and those of other kinds."""

APART = 2.0
"""Two kinds of launches are at least this factor apart, with no launch in between. A ratio whose
interval spans this factor is not stated either."""

_SAME = [name for name in IDENTITY if name != "environment"]
_OF_PLACE = [name for name in _SAME if name not in LAUNCH]
_VALUE = ("metric", "unit")


def kinds_of(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the values of the kind that counts, and the others.

    What else a machine does can only add to a time, so the least kind counts that has
    `LEAST_SHARE` of the launches. Where none has, or a value is not positive, all count.
    """
    ordered = sorted(values)
    kinds: list[list[float]] = []
    for value in ordered:
        if not kinds or value >= APART * kinds[-1][-1]:
            kinds.append([])
        kinds[-1].append(value)
    if not ordered or ordered[0] <= 0:
        return ordered, []
    many = [kind for kind in kinds if len(kind) >= LEAST_SHARE * len(ordered)]
    counts = many[0] if many else ordered
    return counts, [value for kind in kinds if many and kind is not counts for value in kind]


def machine_values(cells: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Return for each environment's cell the values of all launches on the same machine.

    The same machine is the same system, partition, launch model and host. Setting, thread level,
    ranks, placement and test are the same, too.

    Args:
        cells: the baseline's, a row a launch.
        values: one a launch (`Analysis.launch_values`).

    Returns:
        PLACE, metric, unit, statistic, value; of one cell a row for each launch on its machine.
    """
    launches = cells.select(*LAUNCH, *_OF_PLACE, "host")
    found = values.select(*LAUNCH, *_VALUE, "value")
    own = found.join(launches, on=LAUNCH, how="inner", nulls_equal=True)
    beside = own.select("environment", *_SAME, "host").unique(maintain_order=True)
    pooled = beside.join(
        own.drop("environment"), on=[*_SAME, "host"], nulls_equal=True, maintain_order="left_right"
    ).group_by("environment", *_SAME, *_VALUE, maintain_order=True)
    rows = [
        (*key, statistic, value)
        for *key, found in pooled.agg("value").iter_rows()
        for statistic, kind in zip((MACHINE, MACHINE_OTHER), kinds_of(found), strict=True)
        for value in kind
    ]
    names = ("environment", *_SAME, *_VALUE)
    schema = {name: own.schema[name] for name in names}
    schema |= {"statistic": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").select(
        *PLACE, *_VALUE, "statistic", "value"
    )
