"""The sections: one for each question that environments in containers answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from onesided.campaign.tables import CollectedCampaign
from onesided.cells.experiment import Experiments
from onesided.compare import weigh
from onesided.report.containers.answer import answer
from onesided.report.containers.binaries import binaries_table, sharing_table
from onesided.report.containers.costs import figure, part_of, parts_table, timed_cells
from onesided.report.containers.tables import environments_table, verdicts_table
from onesided.report.containers.twins import ABI, COST, Held, Material, Topic, Twin, is_turned
from onesided.report.parts import Part, Section


def sections(
    campaign: CollectedCampaign,
    experiments: Experiments,
    entries: Sequence[Mapping[str, Any]],
    summary: pl.DataFrame,
) -> list[Section]:
    """Return a section for each question that the campaign's environments answer; often none.

    Args:
        campaign: the collected tables.
        experiments: that judged the cells.
        entries: the cells of verdicts.json.
        summary: summary.parquet.
    """
    material = Material(campaign, experiments, entries, summary)
    found = [_section(material, topic, material.twins(topic)) for topic in (COST, ABI)]
    return [section for section in found if section is not None]


def _section(material: Material, topic: Topic, twins: Sequence[Twin]) -> Section | None:
    together = {twin.name: material.pairs(twin) for twin in twins}
    kept = [twin for twin in twins if together[twin.name]]
    if not kept:
        return None
    pairs = [pair for twin in kept for pair in together[twin.name]]
    merits = material.experiments.merits
    inside = weigh.inside(material.launches, pairs, partial(part_of, merits), merits)
    held = Held(kept, pairs, inside, merits)
    alone = [twin for twin in twins if twin not in kept]
    parts: list[Part] = [answer(held, alone)]
    if topic is ABI:
        parts.append(binaries_table(material, held))
    if any(map(is_turned, pairs)):
        parts.append(verdicts_table(topic, held))
    parts.append(environments_table(topic, held))
    drawn = figure(topic, held)
    if drawn is not None:
        parts.append(drawn)
    parts += [parts_table(topic, held, kernel) for kernel in merits if timed_cells(held, kernel)]
    parts.append(sharing_table(material, topic, held))
    return Section(topic.identifier, topic.title, topic.question, parts)
