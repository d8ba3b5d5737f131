"""Find latencies with a tail, whose slowest bursts take much longer than a single access.

A latency is the median of the times of bursts of accesses, so it does not show the slowest bursts.
If each burst contains some slow accesses, all bursts are alike, and the latency looks steady.
Therefore the slowest twentieth of a launch's bursts is compared with the smaller of two times: the
bursts' median, and the quickest single access of the launch (docs/methods.md, "Out of all
proportion").
"""

import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import LAUNCH, SAMPLE_COLUMNS, SAMPLES
from onesided.measure.judging import MOST_RUN_DELAY, RUN_DELAYS
from onesided.measure.latencies import LATENCY
from onesided.measure.statistics import median

TAIL = "tail"
"""This metric says how large the tail of a latency is. In the rows of this metric, the statistic is
the name of the latency metric."""

SHARE_PERCENT = 95
"""This percentile of the times of a launch's bursts counts as the time of the slowest bursts. The
99th percentile of 50 bursts is the slowest burst alone. On a busy machine, in some cells, another
program disturbed the slowest burst of every second launch."""

OUT_OF_PROPORTION = 10.0
"""A latency is called "out of all proportion" if its median tail over launches reaches this limit,
or if the upper end of its interval is this many times the lower end."""


def tail(bursts: Sequence[float], accesses: Sequence[float]) -> float | None:
    """Return the time of a launch's slowest bursts, divided by the time that one access needs.

    The slowest bursts' time is the `SHARE_PERCENT` percentile of all bursts' times. If there are
    several bursts, the slowest burst alone is never used, because another program may have
    disturbed it. `bursts` has the time of one operation in each burst (s); `accesses` has the times
    of single accesses (s), if there were any. The result is None if there are no bursts.
    """
    if not bursts:
        return None
    count = len(bursts)
    rank = max(1, min(math.ceil(round(SHARE_PERCENT * count / 100, 9)), count - 1))
    least = min([median(bursts), *accesses])
    return sorted(bursts)[rank - 1] / least if least > 0 else None


def launch_values(samples: pl.DataFrame, access: str) -> pl.DataFrame:
    """Return, for each launch of a kernel, the tail of its latency.

    If a launch has several origins, its tail is the largest tail of an origin. `access` is the
    series with the times of single accesses; empty if none was timed. The columns are LAUNCH,
    metric, statistic, unit and value. Launches without a latency have no row.
    """
    metric = pl.col("metric")
    series = (
        samples.filter(metric.is_in((LATENCY, access)))
        .group_by(*LAUNCH, "rank", maintain_order=True)
        .agg(pl.col("value").filter(metric == name).alias(name) for name in (LATENCY, access))
    )
    rows = [
        (*launch, tail(bursts, accesses)) for *launch, _, bursts, accesses in series.iter_rows()
    ]
    schema = {**{name: samples.schema[name] for name in LAUNCH}, "value": pl.Float64}
    return (
        pl.DataFrame(rows, schema=schema, orient="row")
        .drop_nulls("value")
        .group_by(LAUNCH, maintain_order=True)
        .agg(pl.col("value").max())
        .select(
            *LAUNCH,
            pl.lit(TAIL).alias("metric"),
            pl.lit(LATENCY).alias("statistic"),
            pl.lit("1").alias("unit"),
            "value",
        )
    )


def waited(folder: Path, where: pl.Expr | None = None) -> str | None:
    """Return a sentence that says that the machine may cause tails, or None.

    The result is None if targets waited for at most `MOST_RUN_DELAY` of their compute phases, or if
    the time of their waits is not known. Cells with a helper or a ghost do not count, because two
    threads or processes on one core wait for each other. `where` selects launches by any of
    `PLACE`; by default all launches.

    Raises:
        InputError: samples.parquet is missing or cut.
    """
    names = ("compute", RUN_DELAYS[0])
    told = pl.col("metric").is_in(names) & ~pl.col("cell").str.contains(
        "target_state=(helper|ghost)"
    )
    chosen = told if where is None else told & where
    samples = read_table(folder / SAMPLES, SAMPLE_COLUMNS, chosen, ("metric", "value"))
    computed_s, waited_s = (
        samples.filter(pl.col("metric") == name)["value"].fill_nan(None).sum() for name in names
    )
    if not computed_s or waited_s <= MOST_RUN_DELAY * computed_s:
        return None
    share = f"{waited_s / computed_s:.0%}"
    return f"the target waited for its core for {share} of its computes: it may be the machine"


def times(factor: float) -> str:
    """Return a factor in words: ``1.3 times``, ``4 000 times``."""
    return f"{factor:,.{0 if factor >= OUT_OF_PROPORTION else 1}f} times".replace(",", " ")


def remark(tail: float | None, low: float, high: float) -> str | None:
    """Return a remark on a latency with a large tail or a wide interval; None for other latencies.

    `tail` is the median tail over launches; None if it is not known. `low` and `high` are the ends
    of the latency's interval.
    """
    found = []
    if tail is not None and tail >= OUT_OF_PROPORTION:
        found.append(f"tail {times(tail)}")
    if high >= OUT_OF_PROPORTION * low > 0:
        found.append(f"launches {times(high / low)} apart")
    return ", ".join(found) or None
