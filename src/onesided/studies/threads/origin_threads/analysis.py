"""Analysis of the kernel origin_threads: what an operation takes, and the rate of all origins."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis

TIMES = "operation_time"
"""One series an origin: seconds an operation, from the origins' common start to its own end."""

TIME = Metric("time", TIMES, "s")

_LIKE = ("operation", "flavor", "arrangement")
_WHERE = ("system", "partition", "environment", "thread_level", "setting", "placement")
_UNITS = {"time": "s", "rate": "1/s", "scaling": "1"}


def _times(samples: pl.DataFrame) -> pl.DataFrame:
    return samples.filter(pl.col("metric") == TIMES).drop_nulls("value")


def _of_launches(samples: pl.DataFrame) -> pl.DataFrame:
    """Return one row per launch: the mean time of its origins, and their rate together.

    A sample of k operations of each of n origins lasts until the last of them is at its end, so
    that its rate is n over the largest time an operation.
    """
    value = pl.col("value")
    return (
        _times(samples)
        .group_by(*LAUNCH, "index", maintain_order=True)
        .agg(value.mean().alias("mean"), (value.len() / value.max()).alias("rate"))
        .group_by(LAUNCH, maintain_order=True)
        .agg(
            pl.col("mean").median().alias("time.median"),
            pl.col("rate").median().alias("rate.total"),
        )
    )


def _scaling(launches: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Add the rate against that of one origin of the same arrangement at the same thread level.

    The divisor is the median over launches of the cell with one origin, so that the ratio spreads
    as the launches of several origins do. That cell may be of another test: a process more is a
    rank more.
    """
    axes = {name: pl.col("labels").str.json_path_match(f"$.{name}") for name in (*_LIKE, "origins")}
    described = cells.select(*dict.fromkeys((*LAUNCH, *_WHERE)), **axes)
    key = (*_WHERE, *_LIKE)
    joined = launches.join(described, on=LAUNCH, how="left", maintain_order="left")
    one = (
        joined.filter(pl.col("origins") == "1")
        .group_by(key)
        .agg(pl.col("rate.total").median().alias("one"))
    )
    ratio = pl.when(pl.col("one") > 0).then(pl.col("rate.total") / pl.col("one"))
    return (
        joined.join(one, on=key, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(ratio.alias("scaling.against_one"))
        .select(*LAUNCH, "time.median", "rate.total", "scaling.against_one")
    )


class _OriginThreads(ReferenceAnalysis):
    """Beside the time, what all origins do together."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return time, rate and scaling, one value per launch."""
        name = pl.col("name").str.split(".").list
        return (
            _scaling(_of_launches(samples), cells)
            .unpivot(index=LAUNCH, variable_name="name")
            .drop_nulls("value")
            .with_columns(name.get(0).alias("metric"), name.get(1).alias("statistic"))
            .with_columns(pl.col("metric").replace_strict(_UNITS).alias("unit"))
            .drop("name")
        )


ANALYSIS = _OriginThreads([TIME], "nobody computes")
