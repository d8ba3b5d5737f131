"""From a campaign's tables to its values, summary and verdicts; knows no experiment by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign import proof
from onesided.campaign.parquet import join_parts, readable, scan_table, write_part
from onesided.campaign.proof import Proof
from onesided.campaign.tables import (
    CELL_COLUMNS,
    IDENTITY,
    PLACE,
    SUMMARY_COLUMNS,
    USABLE_STATUSES,
    CollectedCampaign,
    parse_labels,
    read_campaign,
    record_of,
)
from onesided.cells.experiment import Experiment, Experiments
from onesided.cells.verdicts import NO_COMMON_CLOCK, NO_EFFECT, RELEASED, UNDECIDED, Probe, Verdict
from onesided.measure import enough, lots, machine
from onesided.measure.judged import VERDICTS_SCHEMA
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES, failure
from onesided.measure.lots import Lot
from onesided.measure.merit import merit_rows, place_of
from onesided.measure.statistics import median_interval, percentile, rerun_interval
from onesided.measure.values import FILE, IN_SUMMARY, of_campaign
from onesided.system import documents, parallel, writing

Place = tuple[Any, ...]

JUDGED = (
    *IDENTITY,
    "round",
    "labels",
    "status",
    "detail",
    "clock_global",
    "oversubscribed",
    "transport",
    "threads_after_init",
)
"""What of a cell's launch its verdict rests on, beside the samples."""


def usable_evidence(campaign: CollectedCampaign, experiment: Experiment) -> pl.DataFrame:
    """Return an experiment's timed operations of all launches whose samples count."""
    _, samples = campaign.of_kernel(experiment.kernel)
    return experiment.analysis.evidence(samples)


def _percentiles(pooled: pl.DataFrame) -> dict[Place, dict[str, float | int]]:
    found: dict[Place, dict[str, float | int]] = {}
    grouped = pooled.group_by([*PLACE, "metric"]).agg(pl.col("value"))
    for *key, values in grouped.iter_rows():
        found[tuple(key)] = {
            "samples": len(values),
            **{f"p{percent}": percentile(values, percent) for percent in (50, 95, 99)},
        }
    return found


def _statistics(values: Sequence[float], others: Iterable[Sequence[float]]) -> dict[str, Any]:
    interval = median_interval(values)
    again = rerun_interval(values, others=others) or (None, None)
    return {
        "value": interval.value,
        "low": interval.low,
        "high": interval.high,
        "coverage": interval.coverage,
        "kind": interval.kind,
        "launches": interval.count,
        "rerun_low": again[0],
        "rerun_high": again[1],
    }


def summarise(
    campaign: CollectedCampaign, experiment: Experiment, values: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the rows of summary.parquet for one experiment.

    Args:
        campaign: whose cells they are.
        experiment: the one.
        values: of its launches, columns `VALUE_COLUMNS`.
    """
    cells, samples = campaign.of_kernel(experiment.kernel)
    identity = {place_of(row): row for row in cells.select(IDENTITY).to_dicts()}
    if experiment.is_baseline:
        pooled_values = machine.machine_values(cells, values)
        values = pl.concat([values, pooled_values], how="diagonal")
    pooled = _percentiles(experiment.analysis.pooled_samples(samples))
    grouped = (
        values.group_by([*PLACE, "metric", "statistic", "unit", "kind"])
        .agg(pl.col("value"))
        .with_columns(IN_SUMMARY.alias("shown"))
    )
    empty = {"samples": None, "p50": None, "p95": None, "p99": None}
    kinds: dict[Place, dict[str | None, list[float]]] = defaultdict(dict)
    for *key, _, kind, launches, _ in grouped.iter_rows():
        kinds[tuple(key)][kind] = launches
    rows = []
    for *place, metric, statistic, unit, kind, launches, shown in grouped.iter_rows():
        # the kinds of a latency's launches have one spread
        of_kinds = kinds[(*place, metric, statistic)]
        others = [values for other, values in of_kinds.items() if other != kind]
        rows.append(
            {
                **identity[tuple(place)],
                "metric": metric,
                "statistic": shown,
                "unit": unit,
                **_statistics(launches, others),
                **pooled.get((*place, metric), empty),
            }
        )
    return rows


def summary_of(
    campaign: CollectedCampaign, experiments: Experiments, values: pl.DataFrame
) -> pl.DataFrame:
    """Return what summary.parquet holds of a campaign's tables and of its launches' values."""
    of_kernel = values.partition_by("kernel", as_dict=True)
    rows = [
        row
        for entry in experiments.measured(campaign.kernels)
        for row in summarise(campaign, entry, of_kernel.get((entry.kernel,), values.clear()))
    ]
    return pl.DataFrame(rows, schema=dict(SUMMARY_COLUMNS), orient="row")


def launch_probes(evidence: pl.DataFrame) -> dict[Place, Probe]:
    """Return the probe of each launch that has any sample, by its place and round."""
    if RELEASED not in evidence.columns:
        evidence = evidence.with_columns(pl.lit(0.0).alias(RELEASED))
    grouped = evidence.group_by([*PLACE, "round"], maintain_order=True).agg(
        pl.col("remaining").filter("valid"),
        pl.col("elapsed").filter("valid"),
        pl.col(RELEASED).mean().fill_null(0.0),
    )
    return {
        tuple(key): Probe(tuple(remaining), tuple(elapsed), released)
        for *key, remaining, elapsed, released in grouped.iter_rows()
    }


def _judge_cell(
    rows: Sequence[Mapping[str, Any]],
    labels: Mapping[str, Any],
    probes: Mapping[Place, Probe],
    experiment: Experiment | None,
    proven: Proof,
    of_one: bool,
) -> Verdict:
    """Return the verdict on one cell from its launches, failures first."""
    observed = _observe(rows, labels, probes, experiment, of_one)
    failed = failure([row["status"] for row in rows], [row["detail"] for row in rows])
    if failed is None and proven.differences:
        failed = (NO_EFFECT, "; ".join(proven.differences))
    if failed is None:
        if proven.note is None:
            return observed
        return replace(observed, detail="; ".join(filter(None, (observed.detail, proven.note))))
    word, detail = failed
    if any(row["status"] in USABLE_STATUSES for row in rows):
        detail += f"; the samples there are show: {observed.word}"
    return replace(observed, word=word, detail=detail)


def _observe(
    rows: Sequence[Mapping[str, Any]],
    labels: Mapping[str, Any],
    probes: Mapping[Place, Probe],
    experiment: Experiment | None,
    of_one: bool,
) -> Verdict:
    usable = [row for row in rows if row["status"] in USABLE_STATUSES]
    if experiment is None:
        return Verdict(UNDECIDED, f"no analysis for kernel {rows[0]['kernel']}")
    place = place_of(rows[0])
    comparable = [row for row in usable if row["clock_global"]]
    found = [probes.get((*place, row["round"]), Probe((), ())) for row in comparable]
    verdict = experiment.analysis.judge(labels, found * (MINIMUM_VALID_LAUNCHES if of_one else 1))
    if verdict.word == UNDECIDED and len(comparable) < len(usable):
        return Verdict(UNDECIDED, NO_COMMON_CLOCK)
    return verdict


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def verdicts(
    campaign: CollectedCampaign,
    experiments: Experiments,
    threads: Mapping[Place, int] | None = None,
    *,
    of_one: bool = False,
) -> list[dict[str, Any]]:
    """Return the ``cells`` of verdicts.json: one entry for each declared cell.

    Args:
        campaign: the tables, or some tests of them.
        experiments: that judge cells.
        threads: of the whole campaign, as `proof.default_threads` gives them; without, they are
            those of these tables.
        of_one: the verdicts to which launches like those of these tables alone would lead. What
            such a verdict is shown with says that it is of one launch.
    """
    if threads is None:
        threads = proof.default_threads(campaign.cells.lazy())
    probes: dict[Place, Probe] = {}
    for experiment in experiments.measured(campaign.kernels):
        probes.update(launch_probes(usable_evidence(campaign, experiment)))
    launches: dict[Place, list[dict[str, Any]]] = defaultdict(list)
    cells = campaign.cells.select(JUDGED).sort("round", maintain_order=True)
    for row in cells.iter_rows(named=True):
        launches[place_of(row)].append(row)
    source = campaign.folder / "cells.parquet"
    entries = []
    for rows in launches.values():
        labels = parse_labels(rows[0]["labels"], source)
        counting = [row for row in rows if row["status"] in USABLE_STATUSES]
        proven = proof.prove(counting, proof.asked_transport(campaign.record, rows[0]), threads)
        experiment = experiments.get(rows[0]["kernel"])
        verdict = _judge_cell(rows, labels, probes, experiment, proven, of_one)
        entries.append(
            {
                **{name: rows[0][name] for name in IDENTITY},
                "labels": labels,
                "verdict": verdict.word,
                "detail": verdict.detail,
                "launches": len(rows),
                "valid_launches": verdict.valid_launches,
                "early_fractions": [round(value, 6) for value in verdict.early_fractions],
                "tau_s": verdict.tau_s,
                "oversubscribed": _any(row["oversubscribed"] for row in rows),
            }
        )
    return entries


@dataclass(frozen=True)
class Judged:
    """What a campaign's tables come to.

    Attributes:
        values: what values.parquet holds.
        summary: what summary.parquet holds.
        cells: the ``cells`` of verdicts.json, each with its end.
    """

    values: pl.DataFrame
    summary: pl.DataFrame
    cells: list[dict[str, Any]]


def judge(
    campaign: CollectedCampaign,
    experiments: Experiments,
    threads: Mapping[Place, int] | None = None,
) -> Judged:
    """Return the values, the summary and the verdicts of a campaign's tables, or of some tests.

    Args:
        campaign: as for `verdicts`.
        experiments: likewise.
        threads: likewise.
    """
    values = of_campaign(campaign, experiments)
    summary = summary_of(campaign, experiments, values)
    rows, record = merit_rows(summary, experiments.merits), campaign.record
    declared, end, merits = record.get("declared", {}), record.get("end"), experiments.merits
    cells = [
        {
            **cell,
            "end": enough.end_of(cell, rows.get(place_of(cell)), declared, end, merits),
        }
        for cell in verdicts(campaign, experiments, threads)
    ]
    return Judged(values, summary, cells)


def analyse(folder: Path, experiments: Experiments) -> tuple[int, int]:
    """Write values.parquet, summary.parquet and verdicts.json of one campaign.

    Args:
        folder: its results.
        experiments: that judge its cells.

    Returns:
        Rows of the summary, cells with a verdict.

    Raises:
        InputError: a file of the campaign is missing, cut or of another version.
    """
    record_of(folder)
    cells = scan_table(folder / "cells.parquet", CELL_COLUMNS)
    with readable(folder / "cells.parquet"):
        found = lots.of_cells(cells, experiments.baselines)
        threads = proof.default_threads(cells) if len(found) > 1 else None
    with writing.temporary_folder(folder) as parts:
        tasks = [
            (folder, experiments, lot, threads, parts, number) for number, lot in enumerate(found)
        ]
        counts = list(parallel.each(_analyse_lot, tasks, sum(lot.cells for lot in found)))
        join_parts(folder / FILE, parts)
        join_parts(folder / "summary.parquet", parts)
        lines = (path.read_text("utf-8") for path in sorted(parts.glob("*.lines")))
        written = (text for text in lines if text)
        head = {"schema": VERDICTS_SCHEMA}
        writing.write_json_of_lines(folder / "verdicts.json", head, "cells", written)
    return sum(rows for rows, _ in counts), sum(judged for _, judged in counts)


def _analyse_lot(
    folder: Path,
    experiments: Experiments,
    lot: Lot,
    threads: Mapping[Place, int] | None,
    parts: Path,
    number: int,
) -> tuple[int, int]:
    """Write a lot's part of each file; return the rows of the summary and the cells."""
    judged = judge(read_campaign(folder, lot.where), experiments, threads)
    document = {"schema": VERDICTS_SCHEMA, "cells": judged.cells}
    documents.check(document, "verdicts", folder / "verdicts.json")
    write_part(judged.values, parts, number, FILE)
    table = judged.summary.sort(*IDENTITY, "metric", "statistic", nulls_last=True)
    write_part(table, parts, number, "summary.parquet")
    writing.write_text(parts / f"{number:05d}.lines", writing.json_lines(judged.cells))
    return len(table), len(judged.cells)
