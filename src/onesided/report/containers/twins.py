"""Environments in containers, each with the native one of its MPI, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE, CollectedCampaign
from onesided.cells import verdicts
from onesided.cells.experiment import Experiments
from onesided.compare import weigh
from onesided.compare.reproducibility import Pair
from onesided.compare.weigh import Inside, Whole
from onesided.environments.settings import DEFAULT
from onesided.measure.summary import Merits, merit_rows
from onesided.report.words import short_detail

ABI_IMAGE = "abi"
"""The image with no MPI in it: its one binary runs on whichever MPI is bound in."""


FAILED = (*verdicts.FAILURES, *verdicts.NOT_MEASURED)

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Topic:
    """One of the questions that environments in containers answer.

    Attributes:
        identifier: of its section; its files' names begin with it.
        title: of its section.
        question: its first sentence.
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
    "bound in; beside it that MPI's native build.",
)


@dataclass(frozen=True)
class Twin:
    """An environment in a container and the native one of its MPI.

    Attributes:
        native: the native environment's name.
        document: of the one in the container.
        way: how it was launched, in words; with the image where that alone tells two apart.
    """

    native: str
    document: Document
    way: str

    @property
    def name(self) -> str:
        """Return the name of the environment in the container."""
        return str(self.document["name"])


@dataclass(frozen=True)
class Material:
    """What the sections are made from.

    Attributes:
        campaign: the collected tables.
        experiments: that judged the cells.
        entries: the cells of verdicts.json.
        summary: summary.parquet.
    """

    campaign: CollectedCampaign
    experiments: Experiments
    entries: Sequence[Mapping[str, Any]]
    summary: pl.DataFrame

    @cached_property
    def documents(self) -> dict[str, Document]:
        """Return the description of each environment, by name."""
        return {one["name"]: one for one in self.campaign.record.get("environments", [])}

    def twins(self, topic: Topic) -> list[Twin]:
        """Return the environments in containers that a topic is about, in the campaign's order."""
        inside = [one for one in self.documents.values() if one.get("container")]
        found = [
            one for one in inside if (one["container"]["image_name"] == ABI_IMAGE) == (topic is ABI)
        ]
        ways = [(one["container"]["environment"], one["launch_model"]) for one in found]
        return [
            Twin(
                way[0],
                one,
                way[1] if ways.count(way) == 1 else f"{way[1]}, {one['container']['image_name']}",
            )
            for one, way in zip(found, ways, strict=True)
        ]

    @cached_property
    def launches(self) -> Mapping[tuple[Any, ...], weigh.Launches]:
        """Return each cell's headline values, one a launch."""
        return weigh.headline_launches(self.campaign, self.experiments)

    def facts(self, environment: str) -> list[Mapping[str, Any]]:
        """Return what the headers of an environment's launches say, those alike together."""
        known = self.campaign.record.get("launch_facts", [])
        return [one for one in known if one["environment"] == environment]

    @cached_property
    def _headlines(self) -> dict[tuple[Any, ...], Mapping[str, Any]]:
        return merit_rows(self.summary, self.experiments.merits)

    def pairs(self, twin: Twin) -> list[Pair]:
        """Return the cells that an environment and its native one both have."""
        names = [name for name in PLACE if name != "environment"]

        def of(environment: str) -> dict[tuple[Any, ...], Mapping[str, Any]]:
            own = [entry for entry in self.entries if entry["environment"] == environment]
            return {tuple(entry[name] for name in names): entry for entry in own}

        def value(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
            return self._headlines.get(tuple(entry[name] for name in PLACE))

        native, other = of(twin.native), of(twin.name)
        return [
            Pair(entry, other[place], value(entry), value(other[place]))
            for place, entry in native.items()
            if place in other
        ]


@dataclass(frozen=True)
class Held:
    """What a topic's environments came to.

    Attributes:
        twins: those with cells that their native environment has too.
        pairs: all of their cells.
        inside: how they differ.
        merits: by which cells are compared, by kernel.
    """

    twins: Sequence[Twin]
    pairs: Sequence[Pair]
    inside: Inside
    merits: Merits

    def of(self, twin: Twin) -> list[Pair]:
        """Return the cells of one environment."""
        return [pair for pair in self.pairs if pair.again["environment"] == twin.name]

    def whole(self, twin: Twin) -> Whole | None:
        """Return the difference of all timed cells of one environment; the default setting's."""
        own = [one for one in self.inside.wholes if one.again == twin.name]
        # the first of each setting is that of all kernels
        return min(own, key=lambda one: one.setting != DEFAULT, default=None)


def is_turned(pair: Pair) -> bool:
    """Tell whether a cell's verdict differs from the native one."""
    return pair.cell["verdict"] != pair.again["verdict"]


def is_lost(pairs: Sequence[Pair]) -> bool:
    """Tell whether every cell of an environment ended in the same way, and that was a failure."""
    ends = {(pair.again["verdict"], pair.again["detail"]) for pair in pairs}
    return len(ends) == 1 and pairs[0].again["verdict"] in FAILED


def lost_words(pairs: Sequence[Pair]) -> str:
    """Say how every cell ended."""
    last = pairs[0].again
    return f"{last['verdict']}" + (f" ({short_detail(last['detail'])})" if last["detail"] else "")
