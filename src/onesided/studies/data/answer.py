"""Is the data right? How many cells were, what was not tried, and what is known to go wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import answers, numbers
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Headline, Table
from onesided.report.words import listed, tally
from onesided.studies.data import found, tried
from onesided.studies.data.tried import run_by_name

CAMPAIGN = "onesided run conformance"
"""What tries every value of every axis."""

NO_VARIABLE = "no environment variable set"


def _result(cells: Sequence[Cell]) -> tuple[int, int, str]:
    """Return how many cells were right, how many were run, and in how many launches each."""
    failed = sum(cell.verdict in verdicts.FAILURES for cell in cells)
    counts = sorted({cell.launches for cell in cells})
    many = numbers.count(counts[0], "launch", "launches")
    if len(counts) > 1:
        many = f"{counts[0]} to {counts[-1]} launches"
    return len(cells) - failed, len(cells), many


def _compared(own: Mapping[str, Sequence[Cell]]) -> list[Markup]:
    """Say how many cells were right, the MPIs together in which that is the same."""
    same: dict[tuple[int, int, str], list[str]] = {}
    for name, cells in own.items():
        same.setdefault(_result(cells), []).append(name)
    said = []
    for (right, run, many), names in same.items():
        words = [cell.verdict for name in names[:1] for cell in own[name]]
        failed = [word for word in words if word in verdicts.FAILURES]
        text = Markup("In {}, {}{} were tested, in {} each: {}{}.")
        told = Markup("<strong>{} of {} were right</strong>").format(right, run)
        is_each = len(names) == len(own) > 1
        whom = "each MPI" if is_each else answers.names(names, list(own), "MPIs")
        each = " each" if len(names) > 1 and not is_each else ""
        wrong = f" ({tally(failed)})" if failed else ""
        cells = numbers.count(run, "cell")
        said.append(text.format(whom, cells, each, many, told, wrong))
    return said


def known_sentences(every: Sequence[found.Known]) -> list[Markup]:
    """Say what is known to go wrong in the versions of a report, a sentence an MPI."""
    said = []
    for name in dict.fromkeys(one.environment for one in every):
        own = [one for one in every if one.environment == name]
        here = [one.defect.wrong for one in own if one.is_default]
        others = [one for one in own if not one.is_default]
        parts = [Markup("with {}: {}").format(NO_VARIABLE, "; ".join(here))] if here else []
        if others:
            names = listed(list(dict.fromkeys(s for one in others for s in one.settings)), "or")
            more = numbers.count(len(others), "more defect" if here else "defect")
            parts.append(Markup("{} with the setting {}").format(more, names))
        text = Markup("Known to go wrong in <strong>{}</strong> {}.")
        said.append(text.format(name, Markup(". And ").join(parts)))
    return said


def _met_sentence(met: Mapping[found.Known, int]) -> Markup:
    """Say how many of the defects the campaign's cells meet at all."""
    return met_words(sum(map(bool, met.values())), len(met))


def met_words(number: int, of: int) -> Markup:
    """Say how many of so many defects the campaign's cells meet."""
    if not number:
        return Markup("No cell of this campaign meets one of these defects.")
    return Markup("Cells of this campaign meet {} of these {}.").format(
        number, numbers.count(of, "defect")
    )


def _first_failure(cells: Sequence[Cell]) -> str:
    failed = [cell.verdict for cell in cells if cell.verdict in verdicts.FAILURES]
    return failed[0] if failed else verdicts.RIGHT


def _row(name: str, cells: Sequence[Cell], met: Mapping[found.Known, int]) -> Mapping[str, Any]:
    right, run, many = _result(cells)
    own = [one for one in met if one.environment == name]
    default = sum(one.is_default for one in own)
    return {
        "environment": name,
        "verdict": _first_failure(cells),
        "cells": f"{right} of {run}",
        "right": right,
        "run": run,
        "many": many,
        "launches_low": min(cell.launches for cell in cells),
        "launches_high": max(cell.launches for cell in cells),
        "known": Written(default, numbers.count(default, "defect")),
        "known_settings": len(own) - default,
        "met": sum(bool(met[one]) for one in own),
    }


def _table(own: Mapping[str, Sequence[Cell]], met: Mapping[found.Known, int]) -> Table:
    columns = [
        Column("environment", "MPI", header=True),
        Column("verdict", "The cells compared here", verdict=True, note="cells"),
        Column("many", "Launches of each", page_only=True),
        Column("known", f"Known defects, {NO_VARIABLE}"),
        Column("known_settings", "Known defects, other settings", show=str),
        Column("met", "Of them met by cells here", show=str),
    ]
    return Table(
        "data_answer",
        "Is the data right? The cells of this campaign, and the defects that are known anyway.",
        columns,
        [_row(name, cells, met) for name, cells in own.items()],
        csv_only=[
            Column("right", "cells that were right"),
            Column("run", "cells that were run"),
            Column("launches_low", "launches of the cell that has the fewest"),
            Column("launches_high", "launches of the cell that has the most"),
        ],
        form="cards",
    )


def headline(material: Material) -> Headline | None:
    """Return the answer, a row per MPI; None where nothing was run."""
    own = run_by_name(material)
    if not own:
        return None
    every = list(own)
    known = found.known_of(material.campaign.record, every)
    met = {one: len(found.met(one, own[one.environment])) for one in known}
    groups = tried.by_environments(material)
    compared = _compared(own)
    said = [*compared, *_not_tried(groups, every)]
    said += [Markup("<code>{}</code> tries every value of every axis.").format(CAMPAIGN)]
    said += known_sentences(known)
    said += [_met_sentence(met)] if known else [nothing_known(every)]
    said += answers.missing_sentence(material.environments, every)
    brief = [*compared, *_not_tried(groups, every, in_short=True)]
    return Headline(said, _table(own, met), brief)


def _not_tried(
    groups: Sequence[tuple[list[str], list[tried.Tried]]],
    every: Sequence[str],
    in_short: bool = False,
) -> list[Markup]:
    """Say what of all that the kernel can do was not tried, and what most cells have.

    Args:
        groups: MPIs, and what was tried with each of them.
        every: all MPIs.
        in_short: leave out what most cells have.
    """
    said = (tried.sentence(names, every, each, in_short) for names, each in groups)
    return [Markup("{}").format(sentence) for sentence in said]


def nothing_known(environments: Sequence[str]) -> Markup:
    """Say that no defect is known of some MPIs, and what that is not."""
    return Markup("No defect is known here of {}: nobody looked, or nothing was found.").format(
        listed(list(environments))
    )
