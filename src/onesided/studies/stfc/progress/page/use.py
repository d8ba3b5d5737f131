"""What to use: variables and code changes that keep progress at the lowest latency."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import names_apart
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Prose, Section, Table
from onesided.report.words import listed
from onesided.studies.stfc.progress.advice import decide
from onesided.studies.stfc.progress.advice import file as advice_file
from onesided.studies.stfc.progress.advice.decide import COMMON
from onesided.studies.stfc.progress.advice.findings import Advice, Choice, Evidence, Mpi
from onesided.studies.stfc.progress.advice.words import (
    NOCHECK_CONDITION,
    calls,
    payload_says,
    variables_say,
)
from onesided.studies.stfc.progress.page.cells import place_words, places
from onesided.studies.stfc.progress.page.latency import (
    WITH_BASELINE,
    baseline_of,
    over_baseline,
    over_column,
)

FOLDER = "advice"


def _mpi(material: Material, environment: str) -> Mpi | None:
    for document in material.campaign.record.get("environments", []):
        if document.get("name") == environment and document.get("family"):
            return str(document["family"]), str(document.get("version"))
    return None


def advise(material: Material, environment: str, cells: Sequence[Cell]) -> Advice:
    """Return what to use with an environment in the place of some cells."""
    return decide.advise(
        environment,
        _mpi(material, environment),
        [cell.entry for cell in cells],
        material.summary.to_dicts(),
    )


def _facts(material: Material, environment: str, cells: Sequence[Cell]) -> dict[str, str]:
    """Return what a file says of the campaign."""
    campaign = material.campaign
    own = campaign.cells.filter(campaign.cells["environment"] == environment)
    library = own["library_version"].drop_nulls().unique().sort()
    started = campaign.launches["started_at"].drop_nulls().sort()
    return {
        "library": "; ".join(library) or "not known",
        "campaign": campaign.name,
        "measured": f"{started[0]} to {started[-1]}" if started.len() else "not known",
        "commit": str(campaign.record.get("commit") or "not known"),
        "where": f"{place_words(cells)}; {material.hardware}",
    }


def _operations(found: Sequence[Choice]) -> str:
    return listed(list(dict.fromkeys(choice.operation for choice in found)))


def _code_sentences(advice: Advice) -> list[str]:
    """Return the code changes, operations with the same combination and level together."""
    same: dict[tuple[str, str | None], list[Choice]] = {}
    for choice in advice.cheapest.values():
        if choice.best:
            same.setdefault((calls(choice.best), choice.thread_level), []).append(choice)
    said = [
        f"{_operations(chosen)}: {words}. {_costs(chosen, level)}"
        for (words, level), chosen in same.items()
    ]
    if advice.stuck and advice.measured:
        said.append(f"{listed(advice.stuck)}: no combination measured is independent.")
    best = [choice.best for choice in advice.choices if choice.best]
    if any("nocheck" in evidence.axis("synchronisation") for evidence in best):
        said.append(f"{NOCHECK_CONDITION}.")
    return said


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    """Return one value, or the least and the largest."""
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def _costs(chosen: Sequence[Choice], level: str | None) -> str:
    """Say what a combination costs, and what those cost that differ from it in one thing."""
    own = [c.best.latency.value_s for c in chosen if c.best and c.best.latency]
    words = f"It costs {_range(own, numbers.seconds)} (thread level {level})."
    flavors = [c.flavor_factor for c in chosen if c.flavor_factor is not None]
    synchronisations = [
        c.synchronisation_factor for c in chosen if c.synchronisation_factor is not None
    ]
    for axis, factors in (("flavor", flavors), ("synchronisation", synchronisations)):
        if factors:
            same = next(other for other in COMMON if other != axis)
            words += f" The {axis} {COMMON[axis]} with the same {same} costs "
            words += f"{_range(factors, numbers.factor)} as much."
    return words


def _file(material: Material, advice: Advice, cells: Sequence[Cell], at: int) -> dict[str, str]:
    name = Path(advice_file.file_name(advice))
    if at:
        name = name.with_name(f"{name.stem}-{at + 1}{name.suffix}")
    text = advice_file.shell_text(advice, _facts(material, advice.environment, cells))
    return {f"{FOLDER}/{name}": text}


def _prose(material: Material, advice: Advice, cells: Sequence[Cell], at: int, many: bool) -> Prose:
    title = advice.environment + (f", {place_words(cells)}" if many else "")
    sentences = [Markup("<b>Variables.</b> {}").format(variables_say(advice))]
    found = _code_sentences(advice)
    if found:
        sentences.append(Markup("<b>Code.</b> {}").format(found[0]))
        sentences += [Markup("{}").format(sentence) for sentence in found[1:]]
    sentences += _remarks(material, advice)
    return Prose(title, sentences, _file(material, advice, cells, at))


def _remarks(material: Material, advice: Advice) -> list[Markup]:
    """Say where the latency of what is chosen is out of all proportion."""
    latencies = [(choice.operation, _measure(material, choice.best)) for choice in advice.choices]
    said = [
        f"{operation}: {found.remark}" for operation, found in latencies if found and found.remark
    ]
    if not said:
        return []
    waited = material.waited(advice.environment)
    said = [*dict.fromkeys(said), *([waited] if waited else [])]
    return [Markup("<b>Out of all proportion.</b> {}.").format("; ".join(said))]


def _measure(material: Material, evidence: Evidence | None) -> Measure | None:
    if evidence is None or evidence.latency is None or evidence.latency.entry is None:
        return None
    return material.measure(Cell(evidence.latency.entry), "latency", "median")


def _row(material: Material, environment: str, choice: Choice) -> dict[str, Any]:
    best, common = choice.best, choice.common
    baseline = baseline_of(material, Cell(best.entry)) if best else None
    holds = payload_says(choice)
    return {
        "environment": environment,
        "operation": choice.operation,
        "thread_level": choice.thread_level,
        "use": best.combination if best else None,
        "latency": _measure(material, best),
        **over_baseline(_measure(material, best), baseline),
        "common": common.verdict if common else None,
        "common_latency": _measure(material, common),
        "flavor_factor": choice.flavor_factor,
        "synchronisation_factor": choice.synchronisation_factor,
        "waits": "; ".join(dict.fromkeys(one.combination for one in choice.waiting)) or None,
        "valid_launches": best.entry["valid_launches"] if best else None,
        "launches": best.entry["launches"] if best else None,
        "holds": holds,
        "with": "; ".join(filter(None, (f"at {choice.thread_level}", holds))),
        "test": best.entry["test"] if best else None,
        "cell": best.entry["cell"] if best else None,
    }


def _table(material: Material, found: Sequence[Advice]) -> Table:
    rows = [
        _row(material, advice.environment, choice) for advice in found for choice in advice.choices
    ]
    flavor, synchronisation = COMMON.values()
    columns = [
        Column("operation", "operation", header=True, note="with"),
        Column("use", "cheapest independent"),
        Column("latency", "latency", numbers.seconds, measure=True, unit="s"),
        Column("common", "create, lock_exclusive", verdict=True),
        Column("common_latency", "latency", numbers.seconds, measure=True, unit="s"),
        Column("flavor_factor", f"{flavor}, same synchronisation: ratio", numbers.factor),
        Column("synchronisation_factor", f"{synchronisation}, same flavor: ratio", numbers.factor),
    ]
    beside = [
        Column(name, name)
        for name in (
            *("environment", "thread_level", "holds", "valid_launches", "launches"),
            *("waits", "test", "cell"),
        )
    ]
    if any(column.key in row for column in WITH_BASELINE for row in rows):
        beside += [over_column("latency over hardware baseline"), *WITH_BASELINE]
    return Table(
        "progress_use",
        "The cheapest combination of flavor and synchronisation that is independent with no "
        "variable set, for each operation and thread level, and what the commonest code does. A "
        "ratio is the latency of a combination that differs in one thing over the cheapest's.",
        columns,
        rows,
        groups="environment",
        csv_only=beside,
        large=True,
    )


def _settings_table(material: Material, found: Sequence[Advice]) -> Table | None:
    rows = []
    for advice in found:
        for effect in advice.effects:
            turned = [(turn, "turned") for turn in effect.turned]
            worse = [(turn, "worse") for turn in effect.lost]
            for turn, kind in (*turned, *worse):
                rows.append(
                    {
                        "environment": advice.environment,
                        "setting": effect.setting,
                        "what": turn.before.what,
                        "kind": kind,
                        "before": turn.before.verdict,
                        "after": turn.after.verdict,
                        "tau": turn.after.entry["tau_s"],
                        "latency_before": _measure(material, turn.before),
                        "latency_after": _measure(material, turn.after),
                        "test": turn.after.entry["test"],
                        "cell": turn.after.entry["cell"],
                    }
                )
    if not rows:
        return None
    columns = [
        Column("what", "cell", header=True),
        Column("setting", "setting"),
        Column("before", "default", verdict=True),
        Column("after", "with the setting", verdict=True),
        Column("tau", "delay τ", numbers.seconds, unit="s"),
        Column("latency_before", "latency", numbers.seconds, measure=True, unit="s"),
        Column("latency_after", "latency with it", numbers.seconds, measure=True, unit="s"),
    ]
    beside = tuple(Column(name, name) for name in ("environment", "kind", "test", "cell"))
    caption = "Cells that another setting turns, for the better and for the worse."
    return Table(
        "progress_settings",
        caption,
        columns,
        rows,
        groups="environment",
        csv_only=beside,
        large=True,
    )


def every_advice(material: Material) -> list[tuple[Advice, Sequence[Cell], int]]:
    """Return the advice for each environment in each place, with its cells and its number."""
    numbered: dict[str, int] = {}
    found = []
    for cells in places(material.cells):
        for environment in material.environments:
            own = [cell for cell in cells if cell.environment == environment]
            if own:
                at = numbered.setdefault(environment, 0)
                numbered[environment] += 1
                found.append((advise(material, environment, own), own, at))
    return found


def first_advice(material: Material) -> list[Advice]:
    """Return the advice for each environment in the first place of each partition.

    Where there are several partitions, an environment's name says on which, as `apart` has it.
    """
    name = names_apart(material.cells)
    found: dict[tuple[str, str, str], Advice] = {}
    for advice, cells, _ in every_advice(material):
        first = cells[0]
        called = name(first.entry) if name else advice.environment
        at = (first.system, first.partition, advice.environment)
        found.setdefault(at, replace(advice, environment=called))
    return list(found.values())


def section(material: Material) -> Section:
    """Return what to use, in words, as shell files and with the evidence."""
    found = every_advice(material)
    many = len(found) > len(material.environments)
    prose = [_prose(material, *one, many) for one in found]
    advice = [one[0] for one in found]
    parts: list[Any] = [*prose, _table(material, advice)]
    settings = _settings_table(material, advice)
    if settings is not None:
        parts.append(Folded("Cells that a setting turns", settings))
    lead = (
        "From the verdicts and latencies above, for operations on a target that computes: the code "
        "that is independent at the lowest uncontended latency, and the variables that help code "
        "that cannot be changed. Nothing is recommended from a cell that failed, was undecided or "
        "has too few launches. Each file below has the evidence. A shell file also exports what is "
        "recommended; a text file recommends no variable."
    )
    return Section("progress-use", "What to use", lead, tuple(parts))
