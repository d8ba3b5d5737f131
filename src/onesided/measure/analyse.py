"""Compute values, a summary and verdicts from a campaign's tables. This code names no experiment.

Cells are judged in batches of a few tests, so that the program needs little memory.
"""

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.parquet import join_parts, readable, scan_table, write_part
from onesided.campaign.tables import (
    CELL_COLUMNS,
    IDENTITY,
    CollectedCampaign,
    Place,
    place_of,
    read_campaign,
    record_of,
)
from onesided.cells.experiment import Experiments
from onesided.measure import setting_check, values
from onesided.measure.cell_verdicts import VERDICTS_SCHEMA, verdicts
from onesided.measure.further_rounds import end_of
from onesided.measure.summary import merit_rows, summary_of
from onesided.system import cores, documents, writing

MOST_CELLS = 20_000
"""If several tests are in one batch, the batch has at most this number of cells. A campaign with at
most twice this number of cells is one batch."""

WHERE = ("system", "partition", "environment")


@dataclass(frozen=True)
class Batch:
    """Tests whose cells are judged together.

    Attributes:
        cells: the number of cells; each cell counts once for each of its rounds.
        place: system, partition and environment; None means all.
        tests: the names of the tests; an empty list means all.
    """

    cells: int
    place: tuple[str, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def where(self) -> pl.Expr | None:
        """Return a filter for the rows of a table that belong to the batch; None for all rows."""
        here = [pl.col(name) == value for name, value in zip(WHERE, self.place or (), strict=False)]
        if self.tests:
            here.append(pl.col("test").is_in(self.tests))
        return pl.all_horizontal(here) if here else None


def batches_of(cells: pl.LazyFrame, together: Collection[str] = ()) -> list[Batch]:
    """Divide a campaign's tests into batches; tests are ordered as in the campaign's first round.

    A batch contains all cells of its tests, with all launches of these cells, so that each cell can
    be judged from one batch. `cells` is the table of all cells. `together` has the kernels whose
    values are pooled over environments; their tests are the last batch.
    """
    keys = (*WHERE, "test", "kernel")
    counted = (
        cells.select(*keys, "round")
        .sort("round", maintain_order=True)
        .group_by(keys, maintain_order=True)
        .len()
        .collect()
        .rows()
    )
    total = sum(row[-1] for row in counted)
    # a row without a key would be in no batch, but a batch of all rows refuses this row
    if total <= 2 * MOST_CELLS or any(None in row for row in counted):
        return [Batch(total)]
    pooled = [row for row in counted if row[-2] in together]
    others = (row for row in counted if row[-2] not in together)
    groups = itertools.groupby(others, key=lambda row: row[: len(WHERE)])
    found = [batch for place, rows in groups for batch in _split(place, rows)]
    if not pooled:
        return found
    tests = tuple(dict.fromkeys(row[len(WHERE)] for row in pooled))
    return [*found, Batch(sum(row[-1] for row in pooled), None, tests)]


def _split(place: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Iterator[Batch]:
    tests: list[str] = []
    cells = 0
    for *_, test, _, count in rows:
        if tests and cells + count > MOST_CELLS:
            yield Batch(cells, place, tuple(tests))
            tests, cells = [], 0
        tests.append(test)
        cells += count
    yield Batch(cells, place, tuple(tests))


@dataclass(frozen=True)
class Judged:
    """Everything that the analysis computes from a campaign's tables.

    Attributes:
        values: the content of values.parquet.
        summary: the content of summary.parquet.
        cells: the ``cells`` of verdicts.json. Each cell has an ``end``: how its rounds ended.
    """

    values: pl.DataFrame
    summary: pl.DataFrame
    cells: list[dict[str, Any]]


def judge(
    campaign: CollectedCampaign,
    experiments: Experiments,
    threads: Mapping[Place, int] | None = None,
) -> Judged:
    """Compute values, summary and verdicts of a campaign or of some tests (see `verdicts`)."""
    of_launches = values.of_campaign(campaign, experiments)
    summary = summary_of(campaign, experiments, of_launches)
    rows, record = merit_rows(summary, experiments.merits), campaign.record
    declared, end, merits = record.get("declared", {}), record.get("end"), experiments.merits
    cells = [
        {
            **cell,
            "end": end_of(cell, rows.get(place_of(cell)), declared, end, merits),
        }
        for cell in verdicts(campaign, experiments, threads)
    ]
    return Judged(of_launches, summary, cells)


def analyse(folder: Path, experiments: Experiments) -> tuple[int, int]:
    """Write values.parquet, summary.parquet and verdicts.json of one campaign.

    Return the number of rows of the summary, and the number of cells with a verdict.

    Raises:
        InputError: a file of the campaign is missing, cut or of another version.
    """
    record_of(folder)
    cells = scan_table(folder / "cells.parquet", CELL_COLUMNS)
    with readable(folder / "cells.parquet"):
        batches = batches_of(cells, experiments.baselines)
        threads = setting_check.default_threads(cells) if len(batches) > 1 else None
    with writing.temporary_folder(folder) as parts:
        tasks = [
            (folder, experiments, batch, threads, parts, number)
            for number, batch in enumerate(batches)
        ]
        counts = list(cores.each(_analyse_batch, tasks, sum(batch.cells for batch in batches)))
        join_parts(folder / values.FILE, parts)
        join_parts(folder / "summary.parquet", parts)
        lines = (path.read_text("utf-8") for path in sorted(parts.glob("*.lines")))
        written = (text for text in lines if text)
        head = {"schema": VERDICTS_SCHEMA}
        writing.write_json_of_lines(folder / "verdicts.json", head, "cells", written)
    return sum(rows for rows, _ in counts), sum(judged for _, judged in counts)


def _analyse_batch(
    folder: Path,
    experiments: Experiments,
    batch: Batch,
    threads: Mapping[Place, int] | None,
    parts: Path,
    number: int,
) -> tuple[int, int]:
    """Judge a batch, write its part of each file, and count its summary rows and its cells."""
    judged = judge(read_campaign(folder, batch.where), experiments, threads)
    document = {"schema": VERDICTS_SCHEMA, "cells": judged.cells}
    documents.check(document, "verdicts", folder / "verdicts.json")
    write_part(judged.values, parts, number, values.FILE)
    table = judged.summary.sort(*IDENTITY, "metric", "statistic", nulls_last=True)
    write_part(table, parts, number, "summary.parquet")
    writing.write_text(parts / f"{number:05d}.lines", writing.json_lines(judged.cells))
    return len(table), len(judged.cells)
