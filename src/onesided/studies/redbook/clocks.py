"""The clock of each launch: its tick, what a reading takes, and whether ranks share it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from onesided.report import numbers
from onesided.report.material import Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Table


@dataclass(frozen=True)
class Clocks:
    """A table of all launches of the campaign: a row for each MPI and partition."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where no launch was timed."""
        where = ["environment", "system", "partition"]
        launches = (
            material.campaign.cells.drop_nulls("clock_resolution_s")
            .group_by(*where, "test", "round", maintain_order=True)
            .agg(
                pl.col("clock_resolution_s").first().alias("tick"),
                pl.col("clock_overhead_s").first().alias("reading"),
                pl.col("clock_global").all().alias("one"),
            )
        )
        rows = (
            launches.group_by(where, maintain_order=True)
            .agg(
                pl.len().alias("launches"),
                pl.col("tick").max(),
                pl.col("reading").median(),
                pl.col("one").sum().alias("one"),
            )
            .with_columns(
                pl.format("{}:{}", "system", "partition").alias("where"),
            )
            .to_dicts()
        )
        for row in rows:
            row["one"] = Written(row["one"], f"{row['one']} of {row['launches']}")
        if not rows:
            return []
        columns = [
            Column("environment", "MPI", header=True),
            Column("where", "where"),
            Column("tick", "tick, the largest", numbers.seconds, unit="s"),
            Column("reading", "a reading", numbers.seconds, unit="s"),
            Column("one", "launches whose ranks share it"),
        ]
        caption = (
            "The clock that times are taken from (CLOCK_MONOTONIC): the greatest common divisor of "
            "the steps seen, what a reading takes, and in how many launches the stamps of all "
            "ranks can be compared. Where they cannot, nothing is judged by stamps of two ranks."
        )
        launches = [Column("launches", "launches")]
        return [Table("redbook_clocks", caption, columns, rows, csv_only=launches)]
