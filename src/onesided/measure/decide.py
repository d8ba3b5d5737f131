"""The decision on a further round, from the sessions of all rounds before it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onesided.campaign import collect, further
from onesided.campaign.campaign import Campaign
from onesided.cells.experiment import Experiments
from onesided.measure import enough
from onesided.measure.analyse import judge
from onesided.measure.merit import merit_rows
from onesided.system import documents, writing
from onesided.system.errors import InputError


def decide(campaign: Campaign, number: int, experiments: Experiments) -> Path:
    """Write which cells a further round carries; without any, why there is none.

    Args:
        campaign: that has further rounds.
        number: of the round.
        experiments: that judge the cells.

    Raises:
        InputError: the campaign file asks for no further round of this number, or a session of a
            round before it is missing.
    """
    if campaign.until is None:
        raise InputError(campaign.path, "until", "no such key", "what further rounds are for")
    if not further.is_further(campaign, number):
        expected = f"more than {campaign.rounds[-1]}, as rounds says"
        raise InputError(campaign.path, "number of a further round", number, expected)
    before = collect.gather(campaign, range(1, number))
    judged, merits = judge(before, experiments), experiments.merits
    rows = merit_rows(judged.summary, merits)
    wanted = enough.wanted(judged.cells, rows, campaign.until, merits)
    end = _end(campaign.until, wanted, number, before.record["sessions"])
    path = further.decision_file(campaign, number)
    found = {
        "schema": further.FURTHER_SCHEMA,
        "round": number,
        "cells": {} if end else wanted,
        "end": end,
    }
    documents.check(found, "further", path)
    path.parent.mkdir(exist_ok=True)
    writing.write_json(path, found)
    return path


def _end(
    until: Mapping[str, Any],
    wanted: Mapping[str, Any],
    number: int,
    sessions: list[dict[str, Any]],
) -> str | None:
    """Return why there is no such round, None where there is one.

    The time is that of the sessions, whenever they ran: a campaign that was killed and goes on
    decides as it would have.
    """
    if not wanted:
        return enough.ENOUGH
    if number > until["at_most_rounds"]:
        return enough.OUT_OF_ROUNDS
    spent_s = sum(session["elapsed_s"] for session in sessions)
    return enough.OUT_OF_TIME if spent_s > 60 * until.get("at_most_minutes", float("inf")) else None
