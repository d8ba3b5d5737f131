"""The first screen: what to do so that an access completes while its target computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import answers, numbers, scope
from onesided.report.answers import where
from onesided.report.cells import axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Headline, Table
from onesided.report.words import listed, tally
from onesided.studies.stfc.progress.advice import example
from onesided.studies.stfc.progress.advice.decide import DEFAULT_SETTING
from onesided.studies.stfc.progress.advice.findings import Advice
from onesided.studies.stfc.progress.advice.words import SYNCHRONISATION_CALLS
from onesided.studies.stfc.progress.page.cells import (
    FLAVORS,
    computing,
    declared_order,
    first_group,
    is_judged,
    levels_of,
)
from onesided.studies.stfc.progress.page.ways import Way, helps, ways
from onesided.studies.stfc.progress.page.ways import title as title_of

MOST_OPERATIONS = 6
"""That the first screen names; of more it says how many."""

MOST_WAYS = 6
"""Columns of the matrix, and sentences; further ways are in the truth table."""


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _everywhere(found: Sequence[Way]) -> str | None:
    """Return the word that every way has in every MPI; None where they differ."""
    words = {word for way in found for word in way.words.values()}
    return words.pop() if len(words) == 1 else None


def _what_to_use(found: Sequence[Way], kind: str) -> list[Markup]:
    """Say for each way where an access completes while the target computes, the best first."""
    best, *others = found
    same = _everywhere(found)
    names = answers.names(list(best.found), list(best.found), kind)
    if same == verdicts.INDEPENDENT:
        return [
            Markup(
                "Use any window and synchronisation tested: an access completes while the target "
                "computes in {}."
            ).format(names)
        ]
    if same == verdicts.WAITS:
        return [
            Markup(
                "With every window and synchronisation tested an access waits until the target "
                "calls MPI, in {}."
            ).format(names)
        ]
    if best.good:
        words = "Use <strong>{}</strong>: an access completes while the target computes {}."
        said = [Markup(words).format(best.title, where(best.words, kind))]
        said += [_where_sentence(way, kind) for way in others[: MOST_WAYS - 1]]
    else:
        said = [Markup("No window and synchronisation tested lets every access complete at once.")]
        said += [_where_sentence(way, kind) for way in found[:MOST_WAYS]]
    left = len(found) - MOST_WAYS
    return [*said, Markup("The truth table has the others.")] if left > 0 else said


def _where_sentence(way: Way, kind: str) -> Markup:
    return Markup("{}: {}.").format(way.title, answers.completes(way.words, kind))


def _help_sentences(found: Sequence[Way], kind: str) -> list[Markup]:
    return [
        Markup("If {}, an access completes while the target computes {}.").format(
            one.title, where(one.words, kind)
        )
        for one in found
    ]


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


def _nothing(cells: Sequence[Cell]) -> Markup:
    """Say why nothing is said."""
    reasons = [cell.detail or "no reason" for cell in cells if cell.verdict == verdicts.UNDECIDED]
    if not reasons:
        return Markup("No cell was measured whose target computes.")
    (reason, _), *others = Counter(reasons).most_common()
    return Markup("No cell whose target computes is decided: {} undecided ({}{}).").format(
        numbers.count(len(reasons), "cell"), "mostly " if others else "", reason
    )


def scope_sentence(cells: Sequence[Cell]) -> Markup:
    """Say what the answer was tested with."""
    flavors = declared_order(cells, "flavor", FLAVORS)
    synchronisations = declared_order(cells, "synchronisation")
    operations = declared_order(cells, "operation")
    levels = levels_of(cells)
    named = f" ({listed(operations)})" if len(operations) <= MOST_OPERATIONS else ""
    return Markup(
        "Tested with {} of {} window flavors, {} of {} synchronisations, {} of {}, {}."
    ).format(
        len(flavors),
        len(FLAVORS),
        len(synchronisations),
        len(SYNCHRONISATION_CALLS),
        numbers.count(len(operations), "operation") + named,
        listed(scope.sizes(cells)),
        f"thread level{'' if len(levels) == 1 else 's'} {listed(levels)}",
    )


def sentences(material: Material, found: Sequence[Advice]) -> list[Markup]:
    """Return the answer in words: what to use, what helps, and what was tested.

    Args:
        material: the page's, partitions apart.
        found: the advice for its environments.
    """
    group = first_group(material.cells)
    cells = computing(group)
    if not any(cell.verdict in verdicts.OBSERVED for cell in cells):
        return [_nothing(cells)]
    measured = answers.measured(material.environments, cells)
    kind = answers.rows_are(cells)
    said = _what_to_use(ways(cells, measured), kind)
    said += _help_sentences(helps(group, measured), kind)
    variables = variables_sentence(found)
    said += [variables] if variables else []
    said += answers.missing_sentence(material.environments, measured)
    said += [
        _tested(cells, group[0].setting),
        scope.settings_tried(material.cells, material.experiments),
    ]
    elsewhere = scope.sizes_elsewhere(material.experiment.kernel, material.cells)
    return [*said, *([elsewhere] if elsewhere else [])]


def _tested(cells: Sequence[Cell], setting: str | None) -> Markup:
    """Say what was tested, and what of it is not counted."""
    said = scope_sentence([cell for cell in cells if is_judged(cell)])
    undecided = sum(cell.verdict == verdicts.UNDECIDED for cell in cells)
    if undecided:
        said += Markup(" {} of {} undecided and not counted.").format(
            undecided, f"{numbers.count(len(cells), 'cell')} {'is' if undecided == 1 else 'are'}"
        )
    if setting != DEFAULT_SETTING:
        said += Markup(" All of this with the setting {}.").format(setting)
    return said


def _counts(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return how many cells of an MPI have which verdict, for the CSV."""
    judged = [cell.verdict for cell in cells if is_judged(cell)]
    named = (verdicts.INDEPENDENT, verdicts.WAITS)
    missing = [cell.verdict for cell in cells if cell.verdict in verdicts.NOT_MEASURED]
    return {
        "reading": answers.reading([cell.verdict for cell in cells]),
        "judged": len(judged),
        "independent": judged.count(verdicts.INDEPENDENT),
        "waits": judged.count(verdicts.WAITS),
        "other": tally([*(word for word in judged if word not in named), *missing]) or None,
    }


def _row(environment: str, cells: Sequence[Cell], columns: Sequence[Way]) -> Mapping[str, Any]:
    row: dict[str, Any] = {"environment": environment}
    for way in columns:
        one = way.found[environment]
        row |= {way.key: one.word, f"{way.key}_note": one.note}
    return row | _counts([cell for cell in cells if cell.environment == environment])


def table(material: Material) -> Table:
    """Return the matrix: a row per MPI, a column per way to program and per help."""
    group = first_group(material.cells)
    cells = computing(group)
    shown = ways(cells, material.environments)[:MOST_WAYS]
    columns = [*shown, *helps(group, material.environments)]
    setting = group[0].setting
    return Table(
        "progress_answer",
        f"Does an access complete while its target computes? {scope.one_setting(setting)}",
        [
            Column("environment", "MPI", header=True),
            *(
                Column(
                    way.key,
                    _capital(way.title),
                    verdict=True,
                    note=f"{way.key}_note",
                    finds=" ".join(way.pairs[0]) if len(way.pairs) == 1 else "",
                )
                for way in columns
            ),
        ],
        [_row(environment, cells, columns) for environment in material.environments],
        csv_only=(
            Column("reading", "reads as"),
            *(Column(name, name) for name in ("judged", "independent", "waits", "other")),
        ),
        form="cards",
    )


def headline(material: Material, found: Sequence[Advice]) -> Headline:
    """Return what to do, and a matrix of MPIs and ways to program.

    Args:
        material: the page's, partitions apart.
        found: the advice for its environments.
    """
    return Headline(sentences(material, found), table(material), example=_example(material))


def _example(material: Material) -> tuple[str, str] | None:
    """Return what the first sentence says to use as a program in C, with its title."""
    cells = computing(first_group(material.cells))
    best, *_ = ways(cells, answers.measured(material.environments, cells)) or [None]
    if best is None:
        return None
    for cell in cells:
        flavor, synchronisation, operation = (
            axis_of(cell, axis) for axis in ("flavor", "synchronisation", "operation")
        )
        if (flavor, synchronisation) in best.pairs and cell.verdict == verdicts.INDEPENDENT:
            text = example.program(flavor, synchronisation, operation)
            title = title_of([(flavor, synchronisation)], [])
            return (f"{title} in C: an example for two ranks", text) if text else None
    return None
