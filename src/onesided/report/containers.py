"""What a container costs, and whether the MPI ABI costs anything.

Each launch model of an MPI is an environment of its own, and environments are never pooled. A cell
of an environment in a container is compared with the same cell of the native environment in the
same campaign.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE, CollectedCampaign, Place
from onesided.cells.experiment import Experiments
from onesided.cells.verdicts import BETTER, OPEN, WITHOUT_VALUES, WORSE
from onesided.compare.differences import NOT_TESTED, SAME, Difference
from onesided.compare.pair import Comparison, Judged, Overall, Pair, compare, pairs
from onesided.environments.settings import DEFAULT
from onesided.measure.summary import Merits
from onesided.report import container_facts, numbers
from onesided.report.container_facts import Contained
from onesided.report.container_ratios import cells_with_ratio, part_of, ratios_figure, ratios_table
from onesided.report.pairs import (
    SHORT,
    Sides,
    axes_that_differ,
    columns,
    overall_row,
)
from onesided.report.parts import Column, Part, Prose, Section, Table
from onesided.report.words import listed, short_detail

ABI_IMAGE = "abi"
"""The image without an MPI. Each kernel has only one binary in this image, which uses whichever MPI
of the host is bound into the container."""


@dataclass(frozen=True)
class Topic:
    """A question that a section answers: what a container costs, or what the MPI ABI costs.

    Attributes:
        identifier: the identifier of the section; the names of the topic's files begin with it.
        title: the title of the section.
        question: the first sentence of the section.
    """

    identifier: str
    title: str
    question: str


COST = Topic(
    "containers",
    "What a container costs",
    "The same MPI launched natively and in a container, in one campaign, round by round. "
    "Contained: launcher and ranks in one container. Hybrid: the host's launcher, a container for "
    "each rank. Bind: the same, with the host's MPI over the image's.",
)
ABI = Topic(
    "abi",
    "Is the ABI free?",
    "One binary, built once with the MPI ABI and with no MPI in its image, runs on the MPI that is "
    "bound in. Each value is compared with the native build of this MPI.",
)


@dataclass(frozen=True)
class Compared:
    """The environments that answer a question, compared with the native environments.

    Attributes:
        topic: the question.
        environments: the environments that have a cell in common with their native environment.
        comparison: the comparison of the native cells with the cells in containers.
        merits: the figure of merit of each kernel, by which cells are compared.
    """

    topic: Topic
    environments: Sequence[Contained]
    comparison: Comparison
    merits: Merits

    def of(self, environment: Contained) -> list[Pair]:
        """Return the cells of one environment."""
        name = environment.name
        return [pair for pair in self.comparison.pairs if pair.second["environment"] == name]

    def overall(self, environment: Contained) -> Overall | None:
        """Return the difference from the native environment, over all cells timed in both.

        If there are several settings, the result is for the default setting. Return None if no cell
        was timed in both environments.
        """
        own = [one for one in self.comparison.overall if one.other == environment.name]
        # the first difference of each setting is over all kernels
        return min(own, key=lambda one: one.setting != DEFAULT, default=None)


def sections(
    campaign: CollectedCampaign,
    experiments: Experiments,
    entries: Sequence[Mapping[str, Any]],
    summary: pl.DataFrame,
) -> list[Section]:
    """Return a section for each of the two questions that the campaign can answer; [] if none.

    `entries` has the cells of verdicts.json; `summary` is summary.parquet.
    """
    judged = Judged(campaign.folder, experiments.merits, entries, summary)
    found = [_section(campaign, judged, topic) for topic in (COST, ABI)]
    return [section for section in found if section is not None]


def _environments(campaign: CollectedCampaign, topic: Topic) -> list[Contained]:
    """Return the environments in containers that answer a question, in the campaign's order."""
    documents = [one for one in campaign.record.get("environments", []) if one.get("container")]
    found = [
        one for one in documents if (one["container"]["image_name"] == ABI_IMAGE) == (topic is ABI)
    ]
    ways = [(one["container"]["environment"], one["launch_model"]) for one in found]
    return [
        Contained(
            native,
            one,
            model
            if ways.count((native, model)) == 1
            else f"{model}, {one['container']['image_name']}",
        )
        for one, (native, model) in zip(found, ways, strict=True)
    ]


def _of_native(environment: Contained, place: Place) -> Place:
    """Return what identifies the native cell with which a cell in a container is compared.

    For a cell of any other environment, return a place that no cell has.
    """
    at = PLACE.index("environment")
    native = environment.native if place[at] == environment.name else None
    return (*place[:at], native, *place[at + 1 :])


def _section(campaign: CollectedCampaign, judged: Judged, topic: Topic) -> Section | None:
    every = _environments(campaign, topic)
    own = {one.name: pairs(judged, judged, partial(_of_native, one)) for one in every}
    kept = [one for one in every if own[one.name]]
    if not kept:
        return None
    found = [pair for one in kept for pair in own[one.name]]
    comparison = compare(found, judged, judged, partial(part_of, judged.merits))
    compared = Compared(topic, kept, comparison, judged.merits)
    parts: list[Part] = [_answer(compared, [one for one in every if one not in kept])]
    if topic is ABI:
        parts.append(container_facts.binaries_table(campaign, kept))
    if any(pair.change for pair in found):
        parts.append(_verdicts_table(compared))
    parts.append(_environments_table(compared))
    overall = list(filter(None, map(compared.overall, kept)))
    if overall:
        parts.append(ratios_figure(topic.identifier, comparison, overall, judged.merits))
    ways = {one.name: one.way for one in kept}
    parts += [
        ratios_table(topic.identifier, cells, ways, merit)
        for kernel, merit in judged.merits.items()
        if (cells := cells_with_ratio(comparison, kernel))
    ]
    parts.append(container_facts.sharing_table(campaign, kept, topic.identifier))
    return Section(topic.identifier, topic.title, topic.question, parts)


# ------------------------------------------------------------------------------- in short


def _is_lost(found: Sequence[Pair]) -> bool:
    """Tell whether every cell of an environment ended in the same failure."""
    ends = {(pair.second["verdict"], pair.second["detail"]) for pair in found}
    return len(ends) == 1 and found[0].second["verdict"] in WITHOUT_VALUES


def _answer(compared: Compared, alone: Sequence[Contained]) -> Prose:
    """Say what containers cost: one sentence for each environment, on its verdicts and times."""
    said = [
        f"{one.name} beside {one.native}: {_outcome(compared.of(one), compared.overall(one))}."
        for one in compared.environments
    ]
    said += [
        f"{one.name} stands alone: this campaign has no cells of {one.native} to compare."
        for one in alone
    ]
    return Prose("In short", said)


def _outcome(own: Sequence[Pair], overall: Overall | None) -> str:
    if _is_lost(own):
        last = own[0].second
        return last["verdict"] + (f" ({short_detail(last['detail'])})" if last["detail"] else "")
    changed = sum(pair.change is not None for pair in own)
    words = numbers.count(changed, "verdict differs", "verdicts differ")
    cost = _cost(overall.difference) if overall else "nothing was timed in both"
    return f"{words if changed else 'no verdict differs'}, {cost}"


def _cost(difference: Difference) -> str:
    ratio = numbers.factor(difference.ratio)
    if difference.word == NOT_TESTED:
        return f"{ratio} the native value, {NOT_TESTED} to tell it from noise"
    if not difference.is_significant:
        return f"no slower or faster beyond noise ({ratio})"
    return f"{difference.word}, {ratio} the native value"


# ------------------------------------------------------------------------------ the tables

_SIDES = Sides("verdict_native", "verdict", (", native", ""), note="reason")


def _verdict_row(pair: Pair, environment: Contained, axes: Sequence[str]) -> dict[str, Any]:
    return {
        **_SIDES.row(pair, axes),
        "native": environment.native,
        "environment": environment.name,
        "way": environment.way,
        "kernel": pair.first["kernel"].replace("_", " "),
        "turn": pair.change or OPEN,
        "reason": short_detail(pair.second["detail"]),
    }


def _verdict_rows(environment: Contained, own: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the table rows of an environment's cells; if all cells failed alike, only one row."""
    if _is_lost(own):
        differ = ("setting", "thread_level", "verdict_native", "test", "cell")
        words = {"what": f"every cell ({len(own)})"}
        return [{**_verdict_row(own[0], environment, ()), **dict.fromkeys(differ), **words}]
    rows = []
    for kernel in dict.fromkeys(pair.first["kernel"] for pair in own):
        cells = [pair for pair in own if pair.first["kernel"] == kernel]
        axes = axes_that_differ(cells)
        rows += [_verdict_row(pair, environment, axes) for pair in cells if pair.change]
    return rows


def _verdicts_table(compared: Compared) -> Table:
    """Return the cells whose verdicts differ from the native verdicts, worse verdicts first."""
    rows = [row for one in compared.environments for row in _verdict_rows(one, compared.of(one))]
    rows.sort(key=lambda row: (WORSE, OPEN, BETTER).index(row["turn"]))
    shown = columns(
        "environment",
        Column("way", "launch"),
        "what",
        "setting",
        "thread_level",
        *_SIDES.verdicts,
        "turn",
    )
    every = compared.comparison.pairs
    caption = (
        f"{sum(pair.change is not None for pair in every)} of {numbers.count(len(every), 'cell')} "
        "have another verdict than natively; the cells that became worse are first. Open: the "
        "verdict was or is undecided or not measured, or threads had to share cores."
    )
    return Table(
        f"{compared.topic.identifier}_verdicts",
        caption,
        shown,
        rows,
        csv_only=columns("native", "kernel", "reason", "test", "cell"),
        large=len(rows) > SHORT,
        form="cards",
    )


def _environments_table(compared: Compared) -> Table:
    """Return the table that compares environments in containers with native environments."""
    ways = {one.name: one.way for one in compared.environments}
    comparison, merits = compared.comparison, compared.merits
    rows = [
        {
            **overall_row(comparison, one),
            "environment": one.other,
            "native": one.environment,
            "way": ways[one.other],
        }
        for one in comparison.overall
    ]
    shown = columns(
        "environment",
        Column("native", "beside"),
        Column("way", "launch"),
        "setting",
        Column("kernel", "cells of"),
        WORSE,
        BETTER,
        OPEN,
        "cells",
        Column("ratio", "ratio to native", numbers.ratio, measure=True),
        "difference",
    )
    kernels = {pair.first["kernel"] for pair in comparison.pairs}
    metrics = [
        f"{merit.metric} for {kernel.replace('_', ' ')}"
        for kernel, merit in merits.items()
        if kernel in kernels
    ]
    caption = (
        f"Geometric mean over cells and launches of the ratio to native ({listed(metrics)}), with "
        f"its 95{numbers.THIN_SPACE}% interval over launches; {SAME}: noise explains it."
    )
    name = f"{compared.topic.identifier}_environments"
    return Table(name, caption, shown, rows, csv_only=columns("where", "p"), form="cards")
