"""Launch a cell again with its ReFrame check, or prepare an MPI and a kernel for other launches."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign import attempts, collect, declared, further, grid, reframe
from onesided.campaign.campaign import Campaign
from onesided.campaign.parquet import read_table, scan_table
from onesided.campaign.run import clean_after
from onesided.campaign.session import Session
from onesided.campaign.slot import Slot
from onesided.campaign.tables import (
    CELL_COLUMNS,
    PLACE,
    SUMMARY_COLUMNS,
    CollectedCampaign,
    place_of,
)
from onesided.cells.experiment import Experiments
from onesided.cells.verdicts import UNDECIDED
from onesided.environments import kernels, provision
from onesided.measure import setting_check
from onesided.measure.cell_verdicts import verdicts
from onesided.measure.summary import merit_rows, summary_of
from onesided.measure.values import of_campaign
from onesided.rerun.cell_line import Found
from onesided.system import documents, paths, processes, strays, surroundings, writing
from onesided.system.errors import InputError, OnesidedError
from onesided.system.lock import campaign_lock, lock_file

FOLDER = "rerun"
"""The campaign that runs only one cell has this name, and so has its folder in `build`."""

ROUND = 2
"""The cell is launched in a further round, because only a further round runs chosen cells."""

EVERY_TEST = {"expression": "True"}
"""The campaign selects all tests. The test of the cell is chosen later, by its name."""

NOT_OF_ONE_CELL = ("until", "beside")
"""Entries of a campaign file that have no use if one cell is launched once."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Again:
    """The result of launching a cell of a report again.

    Attributes:
        word: the verdict that the cell would have if all its launches were like this launch.
        early: the share of the launch's valid accesses that were early; None if there are none.
        detail: the reason of the verdict; None if there is none.
        merit: the row of the cell's figure of merit, as in summary.parquet; None if there is none.
    """

    word: str
    early: float | None
    detail: str | None
    merit: Mapping[str, Any] | None


def again(found: Found, experiments: Experiments, say: Say) -> Again:
    """Launch a cell of a report once, and judge it.

    `say` is called with each line for the user, for example if the launch waits for a campaign on
    this machine.

    Raises:
        InputError: no check of this checkout has the cell.
        OnesidedError: the environment is unavailable, or ReFrame cannot run.
    """
    with ExitStack() as stack:
        stack.enter_context(processes.termination_interrupts())
        small = _campaign(found)
        small.keep_environment()
        surroundings.say()
        clean_after(stack.enter_context(campaign_lock(small.results, say)), say)
        # else files of an earlier launch would be taken for files of this launch
        shutil.rmtree(small.results, ignore_errors=True)
        stack.enter_context(strays.owned_by(small.results, lock_file()))
        test = _declared(small, found)
        _write_choice(small, test, found.entry["cell"])
        provided(small.environments[0], small.provider)
        slot = Slot(small, found.partition, small.environments[0], ROUND)
        attempts.run([Session(slot, further.tests_in(small, ROUND, [test]))])
        return _judged(collect.gather(small, [ROUND]), found, experiments)


def ready(environment: str, kernel: str) -> Mapping[str, Any]:
    """Provide an environment and build one of its kernels; return the environment's document.

    Raises:
        InputError: the environment is not declared.
        OnesidedError: the MPI is unavailable, or the kernel does not build.
    """
    document = provided(environment)
    kernels.build(document, [kernel])
    return document


def provided(environment: str, provider: str | None = None) -> Mapping[str, Any]:
    """Provide an MPI environment; return the document that describes it.

    Raises:
        InputError: the environment is not declared.
        OnesidedError: the MPI is unavailable.
    """
    [document] = provision.provide_all([environment], provider=provider)
    if document["status"] != "ready":
        raise OnesidedError(f"{document['name']}: unavailable: {document['reason']}")
    return document


def cell_options(cells: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the command-line options with which a kernel runs only the given cells."""
    blocks = (grid.block_option({axis: [value] for axis, value in one.items()}) for one in cells)
    return [word for block in blocks for word in ("--cells", block)]


def folder() -> Path:
    """Return the folder with the files of the last cell that was run again."""
    return paths.build_dir() / FOLDER


def _campaign(found: Found) -> Campaign:
    """Return a campaign for one cell, with one environment, partition and setting.

    Raises:
        InputError: the results do not say which campaign made them.
    """
    path = found.folder / "campaign.json"
    document = found.record.get("declared")
    if not document:
        raise InputError(
            path, "declared", "nothing", "the campaign's file, from `onesided collect`"
        )
    kept = {name: value for name, value in document.items() if name not in NOT_OF_ONE_CELL}
    small = {
        **kept,
        "environments": [found.entry["environment"]],
        "partitions": [found.partition],
        "select": EVERY_TEST,
        "settings": [found.entry["setting"]],
        "rounds": 1,
    }
    documents.check(small, "campaign", path)
    made = Campaign(FOLDER, path, small, folder().parent)
    if not made.site_file.is_file():
        raise InputError(path, "declared.site", small["site"], f"a site: {made.site_file}")
    return made


def _declared(small: Campaign, found: Found) -> dict[str, Any]:
    """Return the cell's test, as the ReFrame checks of this checkout declare it.

    Raises:
        InputError: the checks do not have the test, or the test does not have the cell.
    """
    name, cell = found.entry["test"], found.entry["cell"]
    before = _check_of(found, name)
    tests = [test for test in declared.describe(small, before) if test["test"] == name]
    if not tests:
        expected = "a test of the checks in this checkout: the report is of others"
        raise InputError(found.folder, "test", name, expected)
    if cell not in declared.cells_of(tests[0]):
        expected = f"a cell that {name} has in this checkout and on these nodes"
        raise InputError(found.folder, "cell", cell, expected)
    return tests[0]


def _check_of(found: Found, name: str) -> list[dict[str, Any]]:
    """Return the test from the campaign's ``declared.json``, if its check is in this checkout."""
    path = found.folder / "declared.json"
    if not path.is_file():
        return []
    tests = [one for one in documents.read_json(path, "declared")["tests"] if one["test"] == name]
    return [one for one in tests if (reframe.checks_folder() / one["check"]).is_file()]


def _write_choice(small: Campaign, test: Mapping[str, Any], cell: str) -> None:
    writing.write_json(
        small.results / "declared.json", {"schema": declared.DECLARED_SCHEMA, "tests": [test]}
    )
    decision = {
        "schema": further.FURTHER_SCHEMA,
        "round": ROUND,
        "cells": {test["test"]: {cell: "asked for"}},
        "end": None,
    }
    writing.write_json(further.decision_file(small, ROUND), decision)


def _judged(gathered: CollectedCampaign, found: Found, experiments: Experiments) -> Again:
    """Judge the new launch, with the number of threads that the default setting starts."""
    cells = scan_table(found.folder / "cells.parquet", CELL_COLUMNS)
    threads = {
        **setting_check.default_threads(cells),
        **setting_check.default_threads(gathered.cells.lazy()),
    }
    [entry] = verdicts(gathered, experiments, threads, of_one=True)
    [alone] = verdicts(gathered, experiments, threads)
    fractions = alone["early_fractions"]
    values = of_campaign(gathered, experiments)
    rows = merit_rows(summary_of(gathered, experiments, values), experiments.merits)
    return Again(
        entry["verdict"],
        fractions[0] if fractions else None,
        alone["detail"] if entry["verdict"] == UNDECIDED else entry["detail"],
        rows.get(place_of(entry)),
    )


def merit_before(found: Found, experiments: Experiments) -> Mapping[str, Any] | None:
    """Return the row of summary.parquet with the value by which the cell is compared, or None."""
    rows = read_table(found.folder / "summary.parquet", SUMMARY_COLUMNS, _at(found.entry))
    return merit_rows(rows, experiments.merits).get(place_of(found.entry))


def _at(entry: Mapping[str, Any]) -> pl.Expr:
    return pl.all_horizontal(pl.col(name) == entry[name] for name in PLACE)
