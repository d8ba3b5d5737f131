"""The answer about data: how many cells were right, what was not tried, which defects are known.

The page of an experiment about data shows the whole answer. For every campaign, a report's first
screen and the terminal show a few sentences of the answer (`onesided.report.page.Brief`).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.environments.settings import DEFAULT
from onesided.report import answers, numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Headline, Section
from onesided.report.words import listed, tally
from onesided.studies.data import known, tried
from onesided.studies.data.counts import TEXT, run_by_name

CAMPAIGN = "onesided run conformance"
"""The command that runs the kernel conformance with every value of every axis."""

NO_VARIABLE = "no environment variable set"

SECTION = "known-defects"
PAGE = "conformance"
"""The id of the report's section with the whole answer, if a campaign has a page about data."""

NOT_ASKED = (
    "The operations timed here were verified. Whether other calls, datatypes and windows are "
    "right, this campaign does not ask"
)

CellsByName = Mapping[str, Sequence[Cell]]
"""The cells that were run, by the name of the MPI."""


def _result(cells: Sequence[Cell]) -> tuple[int, int, str]:
    """Return the numbers of right cells and of all cells, and the launches of a cell in words."""
    failed = sum(cell.verdict in verdicts.FAILURES for cell in cells)
    counts = sorted({cell.launches for cell in cells})
    many = numbers.count(counts[0], "launch", "launches")
    if len(counts) > 1:
        many = f"{counts[0]} to {counts[-1]} launches"
    return len(cells) - failed, len(cells), many


def _compared(own: CellsByName) -> list[Markup]:
    """Say how many cells of each MPI were right; MPIs with the same numbers share one sentence."""
    said = []
    for (right, run, many), names in grouped(own, lambda name: _result(own[name])).items():
        failed = [cell.verdict for cell in own[names[0]] if cell.verdict in verdicts.FAILURES]
        text = Markup("In {}, {}{} were tested, in {} each: {}{}.")
        told = Markup("<strong>{} of {} were right</strong>").format(right, run)
        is_each = len(names) == len(own) > 1
        whom = "each MPI" if is_each else answers.names(names, list(own), "MPIs")
        each = " each" if len(names) > 1 and not is_each else ""
        wrong = f" ({tally(failed)})" if failed else ""
        cells = numbers.count(run, "cell")
        said.append(text.format(whom, cells, each, many, told, wrong))
    return said


def known_sentences(every: Sequence[known.Known]) -> list[Markup]:
    """Say, in one sentence for each MPI, which defects its version is known to have."""
    said = []
    for name, own in grouped(every, lambda one: one.environment).items():
        here = [one.wrong for one in own if one.is_default]
        others = [one for one in own if not one.is_default]
        parts = [Markup("with {}: {}").format(NO_VARIABLE, "; ".join(here))] if here else []
        if others:
            names = listed(list(dict.fromkeys(s for one in others for s in one.settings)), "or")
            more = numbers.count(len(others), "more defect" if here else "defect")
            parts.append(Markup("{} with the setting {}").format(more, names))
        text = Markup("Known to go wrong in <strong>{}</strong> {}.")
        said.append(text.format(name, Markup(". And ").join(parts)))
    return said


def _met_words(number: int, of: int) -> Markup:
    """Say how many of the known defects a cell of the campaign can trigger."""
    if not number:
        return Markup("No cell of this campaign meets one of these defects.")
    return Markup("Cells of this campaign meet {} of these {}.").format(
        number, numbers.count(of, "defect")
    )


def _nothing_known(environments: Sequence[str]) -> Markup:
    """Say that no defect is known in the given MPIs, and that the MPIs may have unknown defects."""
    text = Markup("No defect is known here of {}: nobody looked, or nothing was found.")
    return text.format(listed(environments))


def _row(name: str, cells: Sequence[Cell], met: Mapping[known.Known, bool]) -> Mapping[str, Any]:
    right, run, many = _result(cells)
    own = [one for one in met if one.environment == name]
    default = sum(one.is_default for one in own)
    failed = (cell.verdict for cell in cells if cell.verdict in verdicts.FAILURES)
    return {
        "environment": name,
        "verdict": next(failed, verdicts.RIGHT),
        "cells": f"{right} of {run}",
        "right": right,
        "run": run,
        "many": many,
        "launches_low": min(cell.launches for cell in cells),
        "launches_high": max(cell.launches for cell in cells),
        "known": Written(default, numbers.count(default, "defect")),
        "known_settings": len(own) - default,
        "met": sum(met[one] for one in own),
    }


def headline(material: Material) -> Headline | None:
    """Return the answer about data with a table row for each MPI, or None if no cell was run."""
    own = run_by_name(material)
    if not own:
        return None
    every = list(own)
    defects = known.known_of(material.campaign.record, every)
    met = {one: bool(one.met(own[one.environment])) for one in defects}
    groups = tried.by_environments(material)
    compared = _compared(own)
    said = [*compared, *_not_tried(groups, every)]
    said += [Markup("<code>{}</code> tries every value of every axis.").format(CAMPAIGN)]
    said += known_sentences(defects)
    said.append(_met_words(sum(met.values()), len(met)) if defects else _nothing_known(every))
    said += answers.missing_sentence(material.environments, every)
    brief = [*compared, *_not_tried(groups, every, in_short=True)]
    rows = [_row(name, cells, met) for name, cells in own.items()]
    return Headline(said, TEXT.table("data_answer", rows), brief)


def _not_tried(
    groups: Sequence[tuple[list[str], list[tried.Tried]]],
    every: Sequence[str],
    in_short: bool = False,
) -> list[Markup]:
    """Say which axis values no cell had and, unless `in_short`, which values most cells had.

    Each group in `groups` has some MPIs and their tried values; `every` has all MPIs.
    """
    said = (tried.sentence(names, every, each, in_short) for names, each in groups)
    return [Markup("{}").format(sentence) for sentence in said]


def _environments_of(record: Mapping[str, Any]) -> list[str]:
    """Return the names of a campaign's MPIs."""
    every = record.get("environments", [])
    return [one["name"] for one in every if "name" in one and one.get("library", "MPI") == "MPI"]


def section(record: Mapping[str, Any]) -> Section | None:
    """Return the section on known defects, for a campaign without a page about data.

    The result is None if no defect of the campaign's MPIs is known.
    """
    every = known.known_of(record, _environments_of(record))
    if not every:
        return None
    lead = Markup(
        "This campaign verified the operations that it timed, and no others. <code>{}</code> "
        "tries the others. Defects that are known of the versions in this report:"
    ).format(CAMPAIGN)
    return Section(SECTION, "Known defects", lead, [known.table(every, {})])


def warnings(record: Mapping[str, Any], environment: str, settings: Collection[str]) -> list[str]:
    """Return a sentence for each defect that an MPI is known to have in one of these settings."""
    said = []
    for one in known.known_of(record, [environment]):
        named = [setting for setting in one.settings if setting in settings]
        if not named:
            continue
        where = f" with the setting {listed(named, 'or')}" if DEFAULT not in named else ""
        what = f"{one.wrong}: {listed(one.defect.shows_as, 'or')}"
        see = f"See {known.FOLDER}/{one.defect.text}.md in the report"
        said.append(f"Known defect{where}: {what}. {see}.")
    return said


def sentences(record: Mapping[str, Any], headline: Headline | None) -> list[str | Markup]:
    """Return the sentences about data on a report's first screen; none if a campaign has no MPI.

    `headline` is the answer of the campaign's page about data; None if there is no such page.
    """
    names = _environments_of(record)
    if not names:
        return []
    said: list[str | Markup] = [Markup("{}; <code>{}</code> does.").format(NOT_ASKED, CAMPAIGN)]
    if headline:
        said = list(headline.brief)
    every = known.known_of(record, names)
    default = [one for one in every if one.is_default]
    counts = Counter(one.environment for one in default)
    if counts:
        words = [f"{number} in {name}" for name, number in counts.items()]
        several = len(default) > len({one.defect.text for one in default})
        twice = " A defect of two MPIs is counted in each." if several else ""
        text = Markup("Known defects of these versions with {}: {}.{}")
        said.append(text.format(NO_VARIABLE, listed(words), twice))
    elif every:
        text = Markup("Known under other settings than the default: {}.")
        said.append(text.format(numbers.count(len(every), "defect")))
    if every and headline:
        said.append(_met_words(sum(row["met"] for row in headline.table.rows), len(every)))
    return said
