"""Judge each cell of a campaign; read the verdicts from the file verdicts.json.

The file verdicts.json is read in parts, because a million cells make a file of a gigabyte.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, TextIO, TypeVar

import polars as pl

from onesided.campaign.parquet import count_rows
from onesided.campaign.tables import (
    IDENTITY,
    PLACE,
    SAMPLE_COLUMNS,
    SAMPLES,
    USABLE_STATUSES,
    CollectedCampaign,
    Place,
    parse_labels,
    place_of,
)
from onesided.cells.experiment import Experiment, Experiments
from onesided.cells.verdicts import NO_COMMON_CLOCK, NO_EFFECT, RELEASED, UNDECIDED, Probe, Verdict
from onesided.environments import settings
from onesided.measure import setting_check
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES, failure
from onesided.measure.setting_check import SettingCheck
from onesided.system import documents, text, values
from onesided.system.command import one_line
from onesided.system.errors import InputError, OnesidedError

SCHEMA = "verdicts"
VERDICTS_SCHEMA = "onesided/verdicts/3"

FIRST_LINES = ("{\n", f' "schema": "{VERDICTS_SCHEMA}",\n', ' "cells": [\n')
LAST_LINES = (" ]\n", "}\n")
AT_A_TIME = 1000
"""The number of entries of verdicts.json that are read at a time."""

JUDGED = (
    *IDENTITY,
    "round",
    "labels",
    "status",
    "detail",
    "clock_global",
    "oversubscribed",
    "nodes",
    "transport",
    "threads_after_init",
)
"""The columns of cells.parquet that a verdict depends on, or that verdicts.json shows for a
cell."""

HELPER_AXES = ("target_state", "case")
HELPER_PREFIX = "helper"

Made = TypeVar("Made")


def is_plain(cell: Mapping[str, Any], merits: Container[str]) -> bool:
    """Tell whether a cell is compared, has the setting `default`, and is not crowded.

    `cell` is an entry of verdicts.json; `merits` has the kernels whose cells are compared.
    """
    plain = cell["setting"] == settings.DEFAULT and not is_crowded(cell)
    return plain and cell["kernel"] in merits


def is_crowded(cell: Mapping[str, Any]) -> bool:
    """Tell whether a cell's times may depend on the scheduler, not on the MPI.

    A cell with more ranks or threads than cores is crowded. If a second thread of the target is in
    MPI, the cell counts as crowded on every machine.
    """
    labels = cell["labels"]
    helped = any(str(labels.get(axis, "")).startswith(HELPER_PREFIX) for axis in HELPER_AXES)
    return helped or bool(cell["oversubscribed"])


def usable_evidence(campaign: CollectedCampaign, experiment: Experiment) -> pl.DataFrame:
    """Return the timed operations of an experiment, from all launches whose samples are usable."""
    _, samples = campaign.of_kernel(experiment.kernel)
    return experiment.analysis.evidence(samples)


def launch_probes(evidence: pl.DataFrame) -> dict[Place, Probe]:
    """Return the valid samples of each launch as a `Probe`, by the launch's place and round."""
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
    proven: SettingCheck,
    of_one: bool,
) -> Verdict:
    """Return the verdict on one cell, from all launches of the cell. Failures have priority."""
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
    """Judge the declared cells; return one entry of verdicts.json for each cell.

    `threads` has the numbers of threads in the whole campaign, from
    `setting_check.default_threads`; by default, the numbers are computed from these tables. If
    `of_one` is true, one launch is enough: the verdict is the verdict that `MINIMUM_VALID_LAUNCHES`
    launches with the same samples would get. A caller that shows this verdict must say that the
    verdict is from one launch.
    """
    if threads is None:
        threads = setting_check.default_threads(campaign.cells.lazy())
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
        proven = setting_check.check(
            counting, setting_check.asked_transport(campaign.record, rows[0]), threads
        )
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
                "nodes": max((row["nodes"] for row in rows if row["nodes"]), default=None),
            }
        )
    return entries


class _OtherwiseError(Exception):
    """Raised if verdicts.json does not have the form that `onesided analyse` writes."""


def read_verdicts(path: Path, make: Callable[[dict[str, Any]], Made] = dict) -> list[Made]:
    """Return the cells of verdicts.json.

    The function `make` turns an entry into the object that is returned. At most a thousand whole
    entries are in memory at a time.

    Raises:
        InputError: the file is missing, cut or of another version.
    """
    if not path.is_file():
        raise InputError(path, None, "no such file", "a file from `onesided analyse`")
    try:
        with path.open(encoding="utf-8") as stream:
            return list(map(make, _entries(stream)))
    except (_OtherwiseError, InputError, ValueError, RecursionError, OSError):
        # `read_json` raises an error that says what is wrong
        return list(map(make, text.plain(documents.read_json(path, SCHEMA)["cells"])))


def _entries(stream: TextIO) -> Iterator[dict[str, Any]]:
    """Yield the entries of verdicts.json from a file in the layout that `onesided analyse` writes.

    If several entries have equal labels or texts, memory holds each label or text only once.
    """
    labels_of: dict[str, dict[str, str]] = {}
    _expect(FIRST_LINES, stream)
    lines = itertools.takewhile(lambda line: line != LAST_LINES[0], stream)
    ahead = next(lines, None)
    while ahead is not None:
        some = [ahead, *itertools.islice(lines, AT_A_TIME - 1)]
        ahead = next(lines, None)
        for entry in _parsed(some, is_last=ahead is None):
            cell = entry["cell"]
            if labels_of.get(cell) != entry["labels"]:
                labels_of[cell] = _interned(entry["labels"])
            yield {**_interned(entry), "labels": labels_of[cell]}
    _expect(LAST_LINES[1:], stream)


def _interned(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with each text interned, so that equal texts are in memory only once."""
    return {
        name: intern(value) if type(value) is str else value for name, value in document.items()
    }


def _expect(expected: tuple[str, ...], stream: TextIO) -> None:
    if tuple(itertools.islice(stream, len(expected))) != expected:
        raise _OtherwiseError


def _parsed(lines: list[str], is_last: bool) -> list[dict[str, Any]]:
    """Return the entries in the given lines of verdicts.json.

    Raises:
        ValueError: the lines are not entries.
        InputError: the entries do not fit the schema.
    """
    written = "".join(lines).replace("\n", "")
    # `text.plain` would not change this text: printable, no escapes except quotes and backslashes
    if not written.isprintable() or "\\" in written.replace("\\\\", "").replace('\\"', ""):
        raise _OtherwiseError
    if not is_last and not written.endswith(","):
        raise _OtherwiseError
    entries = values.from_json(f"[{written if is_last else written[:-1]}]")
    documents.refuse(values.suspicious_fault(entries, written), "")
    documents.check({"schema": VERDICTS_SCHEMA, "cells": entries}, SCHEMA, "")
    return entries


def demand_measurements(folder: Path) -> None:
    """Raise an `OnesidedError` that says how the cells ended, if nothing was measured."""
    if count_rows(folder / SAMPLES, SAMPLE_COLUMNS):
        return
    cells = read_verdicts(folder / "verdicts.json")
    words = Counter(cell["verdict"] for cell in cells)
    tally = ", ".join(f"{count} {word}" for word, count in words.most_common())
    reason = next((f"; {cell['detail']}" for cell in cells if cell["detail"]), "")
    raise OnesidedError(one_line(f"nothing was measured: {tally}{reason}"))
