"""The truth table in ten seconds: where an access is independent of its target, where it waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.analysis import verdicts
from onesided.experiments.progress.advice.decide import DEFAULT_SETTING
from onesided.experiments.progress.advice.findings import Advice
from onesided.experiments.progress.page.cells import (
    FLAVORS,
    computing,
    declared_order,
    first_group,
    is_judged,
)
from onesided.report import numbers
from onesided.report.cells import axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Headline, Table
from onesided.report.words import listed, tally

STRONG = "consistent with strong progress"
WEAK = "consistent with weak progress"
NOT_MEASURED = "nothing measured"
NOT_DECIDED = "nothing decided"


def reading(words: Sequence[str]) -> str:
    """Say what an environment's verdicts are consistent with, if all of them agree.

    Strong and weak progress are properties of an implementation; cells are behaviour. One cell
    that waits excludes the first word, one that does not leaves the second unsaid.
    """
    observed = [word for word in words if word in verdicts.OBSERVED]
    if not observed:
        missing = {*verdicts.NOT_MEASURED, *verdicts.FAILURES}
        return NOT_MEASURED if set(words) <= missing else NOT_DECIDED
    if set(observed) <= {verdicts.INDEPENDENT, verdicts.DELAYED}:
        return STRONG
    if set(observed) == {verdicts.WAITS}:
        return WEAK
    return "independent in part"


def always(cells: Sequence[Cell], word: str) -> list[tuple[str, str]]:
    """Return flavor and synchronisation of which every cell that can tell has one verdict."""
    found: dict[tuple[str, str], set[str]] = {}
    for cell in cells:
        if is_judged(cell):
            key = (axis_of(cell, "flavor"), axis_of(cell, "synchronisation"))
            found.setdefault(key, set()).add(cell.verdict)
    return [key for key, words in found.items() if words == {word}]


def combination_words(pairs: Sequence[tuple[str, str]], every: Sequence[tuple[str, str]]) -> str:
    """Say pairs of flavor and synchronisation in as few words as they need.

    Args:
        pairs: those to be named.
        every: all that were judged; a flavor whose every synchronisation is named stands alone.
    """
    by_flavor: dict[str, list[str]] = {}
    for flavor, synchronisation in pairs:
        by_flavor.setdefault(flavor, []).append(synchronisation)
    order = [name for name in FLAVORS if name in by_flavor]
    order += [name for name in by_flavor if name not in FLAVORS]
    whole: list[str] = []
    parts: dict[tuple[str, ...], list[str]] = {}
    for flavor in order:
        possible = {synchronisation for name, synchronisation in every if name == flavor}
        if possible == set(by_flavor[flavor]) and len(possible) > 1:
            whole.append(flavor)
        else:
            parts.setdefault(tuple(by_flavor[flavor]), []).append(flavor)
    said = [f"{listed(whole)} windows, whatever synchronises"] if whole else []
    said += [f"{listed(names)} windows with {listed(syncs)}" for syncs, names in parts.items()]
    return "; ".join(said)


def answer_row(material: Material, environment: str) -> dict[str, Any]:
    """Return an environment's row: how many cells of which verdict, and where they agree."""
    cells = [c for c in computing(first_group(material.cells)) if c.environment == environment]
    judged = [cell for cell in cells if is_judged(cell)]
    every = always_judged(cells)
    good, bad = always(cells, verdicts.INDEPENDENT), always(cells, verdicts.WAITS)
    named = (verdicts.INDEPENDENT, verdicts.WAITS)
    other = [cell.verdict for cell in judged if cell.verdict not in named]
    missing = [cell.verdict for cell in cells if cell.verdict in verdicts.NOT_MEASURED]
    return {
        "environment": environment,
        "reading": reading([cell.verdict for cell in cells]),
        "judged": len(judged),
        "independent": sum(cell.verdict == verdicts.INDEPENDENT for cell in judged),
        "waits": sum(cell.verdict == verdicts.WAITS for cell in judged),
        "other": tally([*other, *missing]) or None,
        "always_independent": combination_words(good, every) or None,
        "always_waits": combination_words(bad, every) or None,
        "only": bool(good) and _covers(judged, good),
        "why_undecided": _why_undecided(cells),
    }


def _why_undecided(cells: Sequence[Cell]) -> str | None:
    """Say how many cells are undecided, and the reason that most of them have."""
    reasons = [cell.detail or "no reason" for cell in cells if cell.verdict == verdicts.UNDECIDED]
    if not reasons:
        return None
    (reason, _), *others = Counter(reasons).most_common()
    mostly = "mostly " if others else ""
    return f"{numbers.count(len(reasons), 'cell')} undecided ({mostly}{reason})"


def always_judged(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return every flavor and synchronisation that was judged."""
    return list(
        dict.fromkeys(
            (axis_of(cell, "flavor"), axis_of(cell, "synchronisation"))
            for cell in cells
            if is_judged(cell)
        )
    )


def _covers(judged: Sequence[Cell], pairs: Sequence[tuple[str, str]]) -> bool:
    """Tell whether nothing is independent outside of some flavors and synchronisations."""
    return all(
        (axis_of(cell, "flavor"), axis_of(cell, "synchronisation")) in pairs
        for cell in judged
        if cell.verdict == verdicts.INDEPENDENT
    )


def why_nothing(row: Mapping[str, Any]) -> str:
    """Say of a row without a decided cell why it has none."""
    return ": ".join(one for one in (row["reading"], row["why_undecided"]) if one)


def said_of(row: Mapping[str, Any]) -> str | None:
    """Say of a row where it is independent, to follow ``is`` or ``are``; None without a cell."""
    if row["reading"] in (NOT_MEASURED, NOT_DECIDED):
        return None
    if row["reading"] == STRONG:
        return "independent in every cell that was decided"
    if row["reading"] == WEAK:
        return "independent nowhere: every access waits for the target"
    if row["always_independent"] is None:
        return "independent in some cells, but on no flavor and synchronisation in all of them"
    only = "only " if row["only"] else "always "
    return f"{'independent ' + only}on {row['always_independent']}"


def _sentences(material: Material, rows: Sequence[Mapping[str, Any]]) -> list[Markup]:
    same: dict[str, list[str]] = {}
    for row in rows:
        words = said_of(row)
        if words:
            same.setdefault(words, []).append(row["environment"])
    cells = first_group(material.cells)
    if not same:
        why = [row["why_undecided"] for row in rows if row["why_undecided"]]
        if not why:
            return [Markup("No cell was measured whose target computes.")]
        return [Markup("No cell whose target computes is decided: {}.").format(why[0])]
    sentences = [
        Markup("<strong>{}</strong> {} {}.").format(
            listed(names), "is" if len(names) == 1 else "are", words
        )
        for words, names in same.items()
    ]
    if cells[0].setting != DEFAULT_SETTING:
        sentences.append(Markup("All of this with the setting {}.").format(cells[0].setting))
    return sentences


def variables_sentence(found: Sequence[Advice]) -> Markup | None:
    """Say whom a variable helps; None where none was tried or none is needed."""
    helped = [
        Markup("{} helps <strong>{}</strong>").format(
            listed([f"{name}={value}" for name, value in advice.variables.items()]),
            advice.environment,
        )
        for advice in found
        if advice.chosen
    ]
    left = [advice for advice in found if advice.waiting and advice.tried and not advice.chosen]
    for words, turns in (("no variable helps", False), ("no variable is recommended for", True)):
        names = [a.environment for a in left if any(e.turned for e in a.tried) == turns]
        if names:
            helped.append(Markup("{} <strong>{}</strong>").format(words, listed(names)))
    if not helped:
        return None
    return Markup("Code that stays as it is: {}.").format(Markup("; ").join(helped))


def headline(material: Material, found: Sequence[Advice]) -> Headline:
    """Return where an access completes while its target computes, one row an environment.

    Args:
        material: the page's, partitions apart.
        found: the advice for its environments.
    """
    cells = first_group(material.cells)
    rows = [answer_row(material, environment) for environment in material.environments]
    operations = declared_order(computing(cells), "operation")
    setting = cells[0].setting
    where = "no variable set" if setting == DEFAULT_SETTING else f"setting {setting}"
    columns = [
        Column("environment", "MPI", header=True, note="reading"),
        Column("judged", "cells", str),
        Column("independent", "independent", str),
        Column("waits", "waits", str),
        Column("other", "other"),
        Column("always_independent", "always independent on", prose=True),
        Column("always_waits", "always waits on", prose=True),
    ]
    table = Table(
        "progress_answer",
        f"Does an operation complete while its target computes? {where.capitalize()}, "
        f"{numbers.count(len(operations), 'operation')}; cells that can tell are counted, over "
        "flavors, synchronisations and thread levels.",
        columns,
        rows,
        csv_only=(Column("reading", "reads as"),),
        form="cards",
    )
    sentences = _sentences(material, rows)
    variables = variables_sentence(found)
    return Headline([*sentences, variables] if variables else sentences, table)
