"""The section with advice: the variables and code changes that give progress at low latency."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import grouped, names_apart
from onesided.report.material import Material
from onesided.report.parts import Folded, Measure, Prose, Section, Table
from onesided.report.pivot import Fields
from onesided.report.words import listed
from onesided.report.written import range_words
from onesided.studies.stfc.progress.advice import (
    calls,
    file_name,
    nocheck_says,
    payload_says,
    shell_text,
    variables_say,
)
from onesided.studies.stfc.progress.cells import DEFAULT_SETTING, WRITTEN, place_words, places
from onesided.studies.stfc.progress.evidence import Evidence
from onesided.studies.stfc.progress.latency import baseline_of, over_baseline, without_baseline
from onesided.studies.stfc.progress.recommend import COMMON, Advice, Choice

FOLDER = "advice"


def every_advice(material: Material) -> list[Advice]:
    """Return the advice for each environment in each place (partition, number of ranks)."""
    return [
        Advice(material, environment, cells)
        for cells in places(material.cells)
        for environment in material.environments
        if any(cell.environment == environment for cell in cells)
    ]


def first_advice(material: Material) -> dict[str, Advice]:
    """Return one advice for each environment, from the first number of ranks of each partition.

    If there are several partitions, the environment's name is extended by the partition's name.
    """
    name = names_apart(material.cells)
    by_name: dict[str, Advice] = {}
    for advice in every_advice(material):
        called = name(advice.cells[0].entry) if name else advice.environment
        by_name.setdefault(called, advice)
    return by_name


# ------------------------------------------------------------------------------ in words


def _code_sentences(advice: Advice) -> list[str]:
    """Say which code to use; operations with the same calls and thread level share a sentence."""
    alike = grouped(
        advice.cheapest.values(), lambda choice: (calls(choice.best), choice.thread_level)
    )
    said = [
        f"{listed([choice.operation for choice in chosen])}: {words}. {_costs(chosen, level)}"
        for (words, level), chosen in alike.items()
    ]
    if advice.stuck and advice.measured:
        said.append(f"{listed(advice.stuck)}: no combination measured is independent.")
    nocheck = nocheck_says(advice)
    return [*said, f"{nocheck}."] if nocheck else said


def _costs(chosen: Sequence[Choice], level: str | None) -> str:
    """Say what the chosen MPI calls cost, and how much more expensive the commonest calls are."""
    own = range_words((choice.best.cost for choice in chosen), numbers.seconds)
    words = f"It costs {own} (thread level {level})."
    for axis, same in zip(COMMON, reversed(COMMON), strict=True):
        factors = [factor for choice in chosen if (factor := choice.factor(axis)) is not None]
        if factors:
            words += f" The {axis} {COMMON[axis]} with the same {same} costs "
            words += f"{range_words(factors, numbers.factor)} as much."
    return words


def _remarks(material: Material, advice: Advice) -> list[Markup]:
    """Say which operations have a latency with the remark "out of all proportion"."""
    latencies = [(choice.operation, _latency(choice.best)) for choice in advice.choices]
    said = [f"{name}: {known.remark}" for name, known in latencies if known and known.remark]
    if not said:
        return []
    waited = material.waited(advice.environment)
    said = [*dict.fromkeys(said), *([waited] if waited else [])]
    return [Markup("<b>Out of all proportion.</b> {}.").format("; ".join(said))]


def _facts(material: Material, advice: Advice) -> dict[str, str]:
    """Return the facts about the campaign that an advice file states."""
    campaign = material.campaign
    own = campaign.cells.filter(campaign.cells["environment"] == advice.environment)
    library = own["library_version"].drop_nulls().unique().sort()
    started = campaign.started
    return {
        "library": "; ".join(library) or "not known",
        "campaign": campaign.name,
        "measured": f"{started[0]} to {started[-1]}" if started else "not known",
        "commit": str(campaign.record.get("commit") or "not known"),
        "where": f"{place_words(advice.cells)}; {material.hardware}",
    }


def _warnings(material: Material, advice: Advice) -> list[str]:
    """Return what other studies know about the MPI in the settings that the advice recommends."""
    settings = [DEFAULT_SETTING, *([advice.chosen.setting] if advice.chosen else [])]
    return [
        said
        for study in material.experiments.briefs
        for said in study.brief.warnings(material.campaign.record, advice.environment, settings)
    ]


def _prose(material: Material, advice: Advice, number: int, with_place: bool) -> Prose:
    """Return an environment's advice in words, and its advice file.

    A `number` above 1 becomes part of the file's name.
    """
    sentences = [Markup("<b>Variables.</b> {}").format(variables_say(advice))]
    for at, sentence in enumerate(_code_sentences(advice)):
        sentences.append(Markup("{}" if at else "<b>Code.</b> {}").format(sentence))
    sentences += _remarks(material, advice)
    name = Path(file_name(advice))
    if number > 1:
        name = name.with_name(f"{name.stem}-{number}{name.suffix}")
    text = shell_text(advice, _facts(material, advice), _warnings(material, advice))
    files = {f"{FOLDER}/{name}": text}
    place = f", {place_words(advice.cells)}" if with_place else ""
    return Prose(f"{advice.environment}{place}", sentences, files)


# ------------------------------------------------------------------------------ in tables


def _latency(evidence: Evidence | None) -> Measure | None:
    return evidence.latency if evidence else None


def _row(material: Material, environment: str, choice: Choice) -> Fields:
    best, common, holds = choice.best, choice.common, payload_says(choice)
    own: Fields = {}
    if best:
        own = {
            name: getattr(best.cell, name)
            for name in ("valid_launches", "launches", "test", "cell")
        }
        own |= over_baseline(best.latency, baseline_of(material, best.cell))
    return {
        "environment": environment,
        "operation": choice.operation,
        "thread_level": choice.thread_level,
        "use": best.combination if best else None,
        "latency": _latency(best),
        "common": common.verdict if common else None,
        "common_latency": _latency(common),
        "flavor_factor": choice.factor("flavor"),
        "synchronisation_factor": choice.factor("synchronisation"),
        "waits": "; ".join(choice.waiting) or None,
        "holds": holds,
        "with": "; ".join(filter(None, (f"at {choice.thread_level}", holds))),
        **own,
    }


def _settings_rows(advice: Advice) -> list[dict[str, Any]]:
    """Return a row for each cell whose verdict is better or worse than in the default setting."""
    turns = [
        (effect.setting, kind, turn)
        for effect in advice.effects
        for kind, turns in (("turned", effect.turned), ("worse", effect.lost))
        for turn in turns
    ]
    return [
        {
            "environment": advice.environment,
            "setting": setting,
            "what": turn.before.what,
            "kind": kind,
            "before": turn.before.verdict,
            "after": turn.after.verdict,
            "tau": turn.after.cell.tau_s,
            "latency_before": turn.before.latency,
            "latency_after": turn.after.latency,
            "test": turn.after.cell.test,
            "cell": turn.after.cell.cell,
        }
        for setting, kind, turn in turns
    ]


def _tables(material: Material, every: Sequence[Advice]) -> list[Table | Folded]:
    rows = [
        _row(material, advice.environment, choice) for advice in every for choice in advice.choices
    ]
    tables = [WRITTEN.table("progress_use", rows, without=without_baseline(rows))]
    turned = [row for advice in every for row in _settings_rows(advice)]
    if turned:
        settings = WRITTEN.table("progress_settings", turned)
        tables.append(Folded("Cells whose verdict a setting changes", settings))
    return tables


def section(material: Material) -> Section | None:
    """Return the section on what to use: the advice in words, the advice files and the evidence."""
    every = every_advice(material)
    by_name = grouped(every, lambda advice: advice.environment)
    with_place = len(every) > len(material.environments)
    prose = [
        _prose(material, advice, by_name[advice.environment].index(advice) + 1, with_place)
        for advice in every
    ]
    return WRITTEN.section("progress-use", [*prose, *_tables(material, every)])
