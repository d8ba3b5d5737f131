"""Decide which cells need a further round, and why the rounds of each cell ended."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.campaign import collect, further
from onesided.campaign.campaign import Campaign
from onesided.campaign.slot import read_record, slots
from onesided.campaign.tables import Place, place_of
from onesided.cells.experiment import Experiments
from onesided.cells.verdicts import FAILURES, NO_COMMON_CLOCK, NOT_MEASURED, UNDECIDED
from onesided.measure.cell_verdicts import is_plain, verdicts
from onesided.measure.summary import Row, is_narrow, merit_rows, summary_of
from onesided.measure.values import of_campaign
from onesided.system import documents, writing
from onesided.system.errors import InputError

HALF_WIDTH = "half-width"
"""One reason for a further round: the interval of the cell's value is too wide. The other reason
for a further round is the verdict `undecided`."""

ENOUGH, OUT_OF_ROUNDS, OUT_OF_TIME = "enough", "out of rounds", "out of time"
"""The words that say why there are no more rounds in a campaign."""

NO_ROUND = {
    OUT_OF_TIME: "the campaign's time was over",
    OUT_OF_ROUNDS: "the campaign had as many rounds as it may have",
}
"""The reasons why a cell got no further round although it needed one. The key of each reason says
how the campaign's rounds ended."""

Cell = Mapping[str, Any]


def is_asked(cell: Cell, merits: Container[str]) -> bool:
    """Tell whether the campaign's rule for further rounds applies to a cell.

    A cell that failed gets no further round.
    """
    return is_plain(cell, merits) and cell["verdict"] not in (*FAILURES, *NOT_MEASURED)


def reason(
    cell: Cell, row: Row | None, until: Mapping[str, Any], merits: Container[str]
) -> str | None:
    """Return why a cell needs a further round; None if no further round is needed or useful.

    `cell` is an entry of verdicts.json. `row` is the row of the summary with the cell's figure of
    merit; None if there is no value. `until` is the stopping rule of the campaign file. `merits`
    has the kernels whose cells are compared.
    """
    if not is_asked(cell, merits):
        return None
    is_open = cell["verdict"] == UNDECIDED and cell["detail"] != NO_COMMON_CLOCK
    if "undecided" in until and is_open:
        return UNDECIDED
    percent = until.get("half_width_percent")
    if percent is None or row is None:
        return None
    if row["rerun_low"] is None:
        # a second launch gives an interval, unless the values cannot have one
        return HALF_WIDTH if row["launches"] < 2 else None
    return None if is_narrow(row, percent / 100) else HALF_WIDTH


def wanted(
    cells: Iterable[Cell],
    rows: Mapping[Place, Row],
    until: Mapping[str, Any],
    merits: Container[str],
) -> dict[str, dict[str, str]]:
    """Return, for each test, the cells that get a further round, with one reason for each cell.

    If a cell needs a further round in one environment, the cell runs again in all environments and
    partitions. If a cell ran again in one environment only, environments would have different
    numbers of launches, and chance would decide how many.
    """
    found: dict[str, dict[str, str]] = {}
    for cell in cells:
        why = reason(cell, rows.get(place_of(cell)), until, merits)
        if why is not None:
            found.setdefault(cell["test"], {}).setdefault(cell["cell"], why)
    return found


def end_of(
    cell: Cell,
    row: Row | None,
    declared: Mapping[str, Any],
    end: str | None,
    merits: Container[str],
) -> str | None:
    """Return why the rounds of a cell ended; None if no rule for further rounds applies to it.

    `declared` is the content of the campaign's file; `end` says how the campaign's rounds ended.
    For the other arguments, see `reason`.
    """
    until = declared.get("until")
    if until is None or not is_asked(cell, merits):
        return None
    return ENOUGH if reason(cell, row, until, merits) is None else end


def line(cells: Sequence[Cell], rounds: int) -> str | None:
    """Return a line of text: how many cells had further rounds, and why these rounds ended.

    The result is None if the campaign has no rule for further rounds. `cells` has the entries of
    verdicts.json; `rounds` is the number of rounds that every cell has.
    """
    asked = [cell for cell in cells if cell.get("end")]
    if not asked:
        return None
    further = [cell for cell in asked if cell["launches"] > rounds]
    without = Counter(
        cell["end"] for cell in asked if cell["launches"] <= rounds and cell["end"] != ENOUGH
    )
    said = [_had_rounds(further)] if further else []
    said += [
        f"{_cells(count)} needed a further round and had none: {NO_ROUND[end]}"
        for end, count in sorted(without.items())
    ]
    return "; ".join(said) or "no cell needed a further round"


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _had_rounds(further: Sequence[Cell]) -> str:
    """Return a text that says how many cells had further rounds, and why their rounds ended."""
    most = max(cell["launches"] for cell in further)
    ends = Counter(cell["end"] for cell in further)
    counts = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return f"{_cells(len(further))} had further rounds (up to {most} launches): {counts}"


def decide(campaign: Campaign, number: int, experiments: Experiments) -> Path:
    """Write the cells of a further round to a file, or why there is no such round; return the file.

    If the campaign may have no further round, its cells are not judged, because that takes seconds.

    Raises:
        InputError: the campaign file asks for no further round with this number, or a session of an
            earlier round is missing.
    """
    if campaign.until is None:
        raise InputError(campaign.path, "until", "no such key", "what further rounds are for")
    if not further.is_further(campaign, number):
        expected = f"more than {campaign.rounds[-1]}, as rounds says"
        raise InputError(campaign.path, "number of a further round", number, expected)
    sessions = [read_record(slot)[1] for slot in slots(campaign, range(1, number))]
    end, cells = _limit(campaign.until, number, sessions), {}
    if end is None:
        before = collect.gather(campaign, range(1, number))
        summary = summary_of(before, experiments, of_campaign(before, experiments))
        rows = merit_rows(summary, experiments.merits)
        cells = wanted(verdicts(before, experiments), rows, campaign.until, experiments.merits)
        end = None if cells else ENOUGH
    path = further.decision_file(campaign, number)
    found = {"schema": further.FURTHER_SCHEMA, "round": number, "cells": cells, "end": end}
    documents.check(found, "further", path)
    path.parent.mkdir(exist_ok=True)
    writing.write_json(path, found)
    return path


def _limit(
    until: Mapping[str, Any], number: int, sessions: Iterable[Mapping[str, Any]]
) -> str | None:
    """Return which limit of the campaign forbids a further round; None if no limit forbids it.

    A campaign's time is the sum of the times of its sessions; the time between sessions does not
    count. Therefore a campaign that was killed and then continued decides as if it had not been
    killed.
    """
    if number > until["at_most_rounds"]:
        return OUT_OF_ROUNDS
    spent_s = sum(session["elapsed_s"] for session in sessions)
    return OUT_OF_TIME if spent_s > 60 * until.get("at_most_minutes", float("inf")) else None
