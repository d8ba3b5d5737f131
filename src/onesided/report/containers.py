"""What a container costs, and whether the ABI is free: environments in images beside native ones.

A launch model is an environment of its own and nothing is pooled: each is held against the native
environment of its MPI in the same campaign, cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import altair as alt
import polars as pl

from onesided.analysis import verdicts
from onesided.campaign.tables import NATIVE, PLACE, CollectedCampaign
from onesided.compare import compare
from onesided.compare.compare import Difference, Inside, Whole
from onesided.compare.reproducibility import Pair, merit_rows
from onesided.environments.settings import DEFAULT
from onesided.experiments import merits
from onesided.report import figures, numbers
from onesided.report.beside import axes_that_differ, measure_of_difference
from onesided.report.parts import (
    Column,
    Figure,
    Part,
    Prose,
    Section,
    Table,
    listed,
    short_detail,
)

ABI_IMAGE = "abi"
"""The image with no MPI in it: its one binary runs on whichever MPI is bound in."""

SHARED, OWN = "shared", "own"
_DIGITS = 12

_FAILED = (*verdicts.FAILURES, *verdicts.NOT_MEASURED)

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
        entries: the cells of verdicts.json.
        summary: summary.parquet.
    """

    campaign: CollectedCampaign
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
    def launches(self) -> Mapping[tuple[Any, ...], compare.Launches]:
        """Return each cell's headline values, one a launch."""
        return compare.headline_launches(self.campaign)

    def facts(self, environment: str) -> list[Mapping[str, Any]]:
        """Return what the headers of an environment's launches say, those alike together."""
        known = self.campaign.record.get("launch_facts", [])
        return [one for one in known if one["environment"] == environment]

    @cached_property
    def _headlines(self) -> dict[tuple[Any, ...], Mapping[str, Any]]:
        return merit_rows(self.summary)

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


def sections(
    campaign: CollectedCampaign, entries: Sequence[Mapping[str, Any]], summary: pl.DataFrame
) -> list[Section]:
    """Return a section for each question that the campaign's environments answer; often none.

    Args:
        campaign: the collected tables.
        entries: the cells of verdicts.json.
        summary: summary.parquet.
    """
    material = Material(campaign, entries, summary)
    found = [_section(material, topic, material.twins(topic)) for topic in (COST, ABI)]
    return [section for section in found if section is not None]


@dataclass(frozen=True)
class _Held:
    """What a topic's environments came to.

    Attributes:
        twins: those with cells that their native environment has too.
        pairs: all of their cells.
        inside: how they differ.
    """

    twins: Sequence[Twin]
    pairs: Sequence[Pair]
    inside: Inside

    def of(self, twin: Twin) -> list[Pair]:
        """Return the cells of one environment."""
        return [pair for pair in self.pairs if pair.again["environment"] == twin.name]

    def whole(self, twin: Twin) -> Whole | None:
        """Return the difference of all timed cells of one environment; the default setting's."""
        own = [one for one in self.inside.wholes if one.again == twin.name]
        # the first of each setting is that of all kernels
        return min(own, key=lambda one: one.setting != DEFAULT, default=None)


def _section(material: Material, topic: Topic, twins: Sequence[Twin]) -> Section | None:
    together = {twin.name: material.pairs(twin) for twin in twins}
    kept = [twin for twin in twins if together[twin.name]]
    if not kept:
        return None
    pairs = [pair for twin in kept for pair in together[twin.name]]
    held = _Held(kept, pairs, compare.inside(material.launches, pairs, _part_of))
    alone = [twin for twin in twins if twin not in kept]
    parts: list[Part] = [_answer(held, alone)]
    if topic is ABI:
        parts.append(_binaries(material, held))
    if any(map(_is_turned, pairs)):
        parts.append(_verdicts(topic, held))
    parts.append(_environments(topic, held))
    drawn = _figure(topic, held)
    if drawn is not None:
        parts.append(drawn)
    parts += [_parts(topic, held, kernel) for kernel in merits() if _timed_cells(held, kernel)]
    parts.append(_sharing(material, topic, held))
    return Section(topic.identifier, topic.title, topic.question, parts)


def _without_native(twin: Twin) -> str:
    return f"{twin.name} stands alone: this campaign has no cells of {twin.native} to compare."


def _answer(held: _Held, alone: Sequence[Twin]) -> Prose:
    """Say in one sentence an environment what it costs, verdicts first."""
    said = []
    for twin in held.twins:
        whole = held.whole(twin)
        own = held.of(twin)
        turned = sum(map(_is_turned, own))
        if _is_lost(own):
            said.append(f"{twin.name} beside {twin.native}: {_lost_words(own)}.")
            continue
        words = [numbers.count(turned, "verdict differs", "verdicts differ")]
        words = words if turned else ["no verdict differs"]
        words.append(_cost(whole.difference) if whole else "nothing was timed in both")
        said.append(f"{twin.name} beside {twin.native}: {', '.join(words)}.")
    return Prose("In short", [*said, *map(_without_native, alone)])


def _cost(difference: Difference) -> str:
    ratio = numbers.factor(difference.ratio)
    if difference.word == compare.NOT_TESTED:
        return f"{ratio} the native value, {compare.NOT_TESTED} to tell it from noise"
    if not difference.is_significant:
        return f"no slower or faster beyond noise ({ratio})"
    return f"{difference.word}, {ratio} the native value"


def _is_turned(pair: Pair) -> bool:
    return pair.cell["verdict"] != pair.again["verdict"]


def _is_lost(pairs: Sequence[Pair]) -> bool:
    """Tell whether every cell of an environment ended in the same way, and that was a failure."""
    ends = {(pair.again["verdict"], pair.again["detail"]) for pair in pairs}
    return len(ends) == 1 and pairs[0].again["verdict"] in _FAILED


def _lost_words(pairs: Sequence[Pair]) -> str:
    last = pairs[0].again
    return f"{last['verdict']}" + (f" ({short_detail(last['detail'])})" if last["detail"] else "")


# --------------------------------------------------------------------------------- verdicts


def _turned_row(pair: Pair, twin: Twin, axes: Sequence[str]) -> dict[str, Any]:
    return {
        "native": twin.native,
        "environment": twin.name,
        "way": twin.way,
        "kernel": pair.cell["kernel"].replace("_", " "),
        "what": _named(pair, axes),
        "setting": pair.cell["setting"],
        "thread_level": pair.cell["thread_level"],
        "verdict_native": pair.cell["verdict"],
        "verdict": pair.again["verdict"],
        "turn": compare.turn(pair) or compare.OPEN,
        "reason": short_detail(pair.again["detail"]),
        "test": pair.cell["test"],
        "cell": pair.cell["cell"],
    }


def _verdicts(topic: Topic, held: _Held) -> Table:
    rows = []
    turned = [pair for pair in held.pairs if _is_turned(pair)]
    for twin in held.twins:
        own = held.of(twin)
        if _is_lost(own):
            words = f"every cell ({len(own)})"
            all_alike = dict.fromkeys(("setting", "thread_level", "verdict_native", "test", "cell"))
            rows.append({**_turned_row(own[0], twin, ()), **all_alike, "what": words})
            continue
        for kernel in dict.fromkeys(pair.cell["kernel"] for pair in own):
            cells = [pair for pair in own if pair.cell["kernel"] == kernel]
            axes = axes_that_differ(cells)
            rows += [_turned_row(pair, twin, axes) for pair in cells if _is_turned(pair)]
    rows.sort(key=lambda row: (compare.WORSE, compare.OPEN, compare.BETTER).index(row["turn"]))
    columns = [
        Column("environment", "MPI", header=True),
        Column("way", "launch"),
        Column("what", "cell", prose=True),
        Column("setting", "setting"),
        Column("thread_level", "thread level"),
        Column("verdict_native", "verdict, native", verdict=True),
        Column("verdict", "verdict", verdict=True, note="reason"),
        Column("turn", "is"),
    ]
    beside = ("native", "kernel", "reason", "test", "cell")
    caption = (
        f"{len(turned)} of {numbers.count(len(held.pairs), 'cell')} have another verdict than "
        "natively; what became worse first. Open: to or from undecided or not measured, or with "
        "fewer cores than threads."
    )
    return Table(
        f"{topic.identifier}_verdicts",
        caption,
        columns,
        rows,
        csv_only=[Column(key, key) for key in beside],
        large=len(rows) > 12,
        form="cards",
    )


def _named(pair: Pair, axes: Sequence[str]) -> str:
    labels = pair.cell["labels"]
    return ", ".join(str(labels[axis]) for axis in axes if axis in labels)


# --------------------------------------------------------------------------- taken together


def _environments(topic: Topic, held: _Held) -> Table:
    ways = {twin.name: twin.way for twin in held.twins}
    rows = []
    for whole in held.inside.wholes:
        own = [
            pair
            for pair in held.pairs
            if (pair.cell["environment"], pair.again["environment"])
            == (whole.environment, whole.again)
            and all(pair.cell[key] == getattr(whole, key) for key in _OF_WHOLE)
            and whole.kernel in (compare.EVERYTHING, pair.cell["kernel"])
        ]
        turns = [compare.turn(pair) for pair in own]
        rows.append(
            {
                "environment": whole.again,
                "native": whole.environment,
                "way": ways[whole.again],
                "where": f"{whole.system}:{whole.partition}",
                "setting": whole.setting,
                "kernel": whole.kernel.replace("_", " "),
                "cells": whole.cells,
                **{kind: turns.count(kind) for kind in _TURNS},
                "ratio": measure_of_difference(whole.difference),
                "difference": whole.difference.word,
                "p": whole.difference.p,
            }
        )
    columns = [
        Column("environment", "MPI", header=True),
        Column("native", "beside"),
        Column("way", "launch"),
        Column("setting", "setting"),
        Column("kernel", "cells of"),
        Column(compare.WORSE, "verdicts worse", str),
        Column(compare.BETTER, "better", str),
        Column(compare.OPEN, "cannot be told", str),
        Column("cells", "cells timed", str),
        Column("ratio", "ratio to native", numbers.ratio, measure=True),
        Column("difference", "difference"),
    ]
    kernels = {pair.cell["kernel"] for pair in held.pairs}
    metrics = listed(
        [
            f"{merit.metric} for {k.replace('_', ' ')}"
            for k, merit in merits().items()
            if k in kernels
        ]
    )
    caption = (
        f"Geometric mean over cells and launches of the ratio to native ({metrics}), with its "
        f"95{numbers.THIN_SPACE}% interval over launches; {compare.SAME}: noise explains it."
    )
    return Table(
        f"{topic.identifier}_environments",
        caption,
        columns,
        rows,
        csv_only=(Column("where", "where"), Column("p", "p, corrected", numbers.ratio)),
        form="cards",
    )


_OF_WHOLE = ("system", "partition", "setting")
_TURNS = (compare.WORSE, compare.BETTER, compare.OPEN)


# --------------------------------------------------------------------------- by operation

_HOW = ("system", "partition", "setting", "thread_level", "ranks", "placement")


def _labels_of(pair: Pair) -> tuple[tuple[str, str], ...]:
    """Return what a cell's headline value depends on."""
    merit = merits().get(pair.cell["kernel"])
    dropped = merit.pooled if merit else ()
    kept = pair.cell["labels"].items()
    return tuple((axis, str(value)) for axis, value in kept if axis not in dropped)


def _row_of(pair: Pair) -> tuple[Any, ...]:
    """Return what has a row of its own: all environments beside one native one share it."""
    how = (pair.cell[name] for name in _HOW)
    return (pair.cell["environment"], pair.cell["kernel"], *how, _labels_of(pair))


def _part_of(pair: Pair) -> tuple[Any, ...]:
    return (pair.again["environment"], _row_of(pair))


def _timed_cells(held: _Held, kernel: str) -> list[Pair]:
    parts = held.inside.parts
    return [p for p in held.pairs if p.cell["kernel"] == kernel and _part_of(p) in parts]


def _key(way: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in way).replace("__", "_")


def _parts(topic: Topic, held: _Held, kernel: str) -> Table:
    """Return the ratios of one kernel: a row an operation, a column a launch model."""
    cells = _timed_cells(held, kernel)
    ways = list(dict.fromkeys(twin.way for twin in held.twins))
    way_of = {twin.name: twin.way for twin in held.twins}
    axes = [axis for axis in axes_that_differ(cells) if axis not in merits()[kernel].pooled]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for pair in cells:
        row = rows.setdefault(
            _row_of(pair),
            {
                "native": pair.cell["environment"],
                "what": _named(pair, axes) or kernel.replace("_", " "),
                "where": f"{pair.cell['system']}:{pair.cell['partition']}",
                **{name: pair.cell[name] for name in _HOW},
                **pair.cell["labels"],
            },
        )
        difference = held.inside.parts[_part_of(pair)]
        key = _key(way_of[pair.again["environment"]])
        row |= {
            key: measure_of_difference(difference),
            f"difference_{key}": difference.word,
            f"p_{key}": difference.p,
        }
    metric = merits()[kernel].metric
    left_out = listed([axis.replace("_", " ") for axis in merits()[kernel].pooled])
    named = [*(axis for axis, _ in _labels_of(cells[0])), "where", "ranks", "placement"]
    return Table(
        f"{topic.identifier}_{kernel}",
        f"Ratio of the {metric} to native, cells of {kernel.replace('_', ' ')}: geometric mean "
        f"over launches with its 95{numbers.THIN_SPACE}% interval. Cells that differ in "
        f"{left_out} alone are taken together.",
        [
            Column("what", "cell", header=True, prose=True),
            Column("setting", "setting"),
            Column("thread_level", "thread level"),
            *(
                Column(_key(way), way, numbers.ratio, measure=True, note=f"difference_{_key(way)}")
                for way in ways
            ),
        ],
        list(rows.values()),
        groups="native",
        csv_only=(
            Column("native", "native"),
            *(Column(f"difference_{_key(way)}", way) for way in ways),
            *(Column(f"p_{_key(way)}", way, numbers.ratio) for way in ways),
            *(Column(axis, axis) for axis in named),
        ),
        large=True,
    )


# -------------------------------------------------------------------------------- the figure

_LEAST_SPAN = 1.25
"""How far from 1 the axis reaches at least, as a factor."""

_CUT = 3.0
"""How far beyond the values an interval is drawn at most, as a factor."""


def _figure(topic: Topic, held: _Held) -> Figure | None:
    """Return the ratios as drawn: a line an environment; None where nothing was timed."""
    parts = held.inside.parts
    wholes = {twin.name: whole for twin in held.twins if (whole := held.whole(twin)) is not None}
    if not wholes:
        return None
    rows = [
        {
            "environment": name,
            "what": "all cells",
            "ratio": measure_of_difference(whole.difference),
        }
        for name, whole in wholes.items()
    ]
    settings = {name: whole.setting for name, whole in wholes.items()}
    marks = [
        {
            "environment": name,
            "what": ", ".join([str(level), *(value for _, value in labels)]),
            "ratio": measure_of_difference(difference),
        }
        for (name, (_, _, _, _, setting, level, _, _, labels)), difference in parts.items()
        if setting == settings[name]
    ]
    name = f"{topic.identifier}_ratios"
    drawn = figures.draw(
        name,
        _chart(rows, marks, figures.WIDE_PX - 240, narrow=False),
        _chart(rows, marks, figures.NARROW_PX - 40, narrow=True),
    )
    table = Table(
        name,
        "Ratios to native, those of all cells together first.",
        [
            Column("environment", "MPI", header=True),
            Column("what", "cells"),
            Column("ratio", "ratio to native", numbers.ratio, measure=True),
        ],
        [*rows, *marks],
        large=True,
    )
    caption = (
        "Values in a container over native values; at the dashed line they are equal, to its right "
        "the container is slower. Dot and bar: all cells together with the 95"
        f"{numbers.THIN_SPACE}% interval; strokes: one for each row of the tables below."
    )
    return Figure(name, "Ratio to native", caption, *drawn, table)


def _chart(
    rows: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    width: int,
    *,
    narrow: bool,
) -> alt.LayerChart:
    order = [row["environment"] for row in rows]
    whole = [_plain(row) for row in rows]
    single = [_plain(mark) for mark in marks]
    values = [one["value"] for one in (*whole, *single)]
    # the interval of two or three launches may go from nothing to everything: it is cut there
    least, most = min(values) / _CUT, max(values) * _CUT
    ends = [min(max(end, least), most) for row in whole for end in (row["low"], row["high"])]
    ends += values
    low = min([1 / _LEAST_SPAN, *(end / 1.05 for end in ends)])
    high = max([_LEAST_SPAN, *(end * 1.05 for end in ends)])
    ratio = alt.X(
        "value:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title="ratio to native", format="~g", tickCount=4 if narrow else 8),
    )
    # names above the lines where the page is narrow: beside them there is no room
    names = alt.Axis(
        title=None, ticks=False, domain=False, labelPadding=8, labelLimit=230, minExtent=200
    )
    if narrow:
        names = alt.Axis(
            title=None, ticks=False, domain=False, orient="left", labelAlign="left",
            labelOffset=-18, labelPadding=-4, labelLimit=width, zindex=1,
        )  # fmt: skip
    place = alt.Y("environment:N", sort=order, axis=names, scale=alt.Scale(padding=0.3))
    hints = [
        alt.Tooltip("environment:N", title="MPI"),
        alt.Tooltip("what:N", title="cells"),
        alt.Tooltip("value:Q", title="ratio", format=".3~g"),
    ]
    strokes = (
        alt.Chart(alt.InlineData(values=single))
        .mark_tick(color=figures.colour("bar"), opacity=0.55, thickness=1.5, size=14)
        .encode(y=place, x=ratio, tooltip=hints)
    )
    base = alt.Chart(alt.InlineData(values=whole)).encode(y=place)
    bars = base.mark_rule(color=figures.colour("ink"), strokeWidth=2.5, clip=True).encode(
        x=alt.X("low:Q"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, color=figures.colour("ink"), opacity=1).encode(
        x=ratio, tooltip=hints
    )
    one = (
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2)
        .encode(x="one:Q")
    )
    step = 52 if narrow else 40
    return alt.layer(one, strokes, bars, dots).properties(width=width, height=step * len(order))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    ratio = row["ratio"]
    own = {"environment": row["environment"], "what": row["what"]}
    return {**own, "value": ratio.value, "low": ratio.low, "high": ratio.high}


# ---------------------------------------------------------------------- what the ranks share


def _sharing(material: Material, topic: Topic, held: _Held) -> Table:
    """Return what the headers say that the ranks of each environment share."""
    rows = []
    for native in dict.fromkeys(twin.native for twin in held.twins):
        beside = [twin for twin in held.twins if twin.native == native]
        rows += _sharing_rows(material, native, NATIVE, None)
        for twin in beside:
            rows += _sharing_rows(material, twin.name, twin.way, twin.document)
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("way", "launch"),
        Column("own", "namespaces of its own for each rank", prose=True),
        Column("shm", "/dev/shm"),
        Column("readv", "memory of another rank", prose=True),
        Column("container", "image"),
        Column("runtime", "runtime"),
        Column("launches", "launches", str),
    ]
    beside_columns = [
        Column(f"namespaces_{kind}", kind, str)
        for kind in dict.fromkeys(
            kind
            for one in material.campaign.record.get("launch_facts", [])
            for kind in one["namespaces"]
        )
    ]
    return Table(
        f"{topic.identifier}_sharing",
        "What the ranks were left with, as each of them found it. Where a rank may not read the "
        "memory of another, an MPI cannot copy large messages in one step.",
        columns,
        rows,
        csv_only=(*beside_columns, Column("commit", "commit"), Column("reason", "reason")),
        form="cards",
    )


def _sharing_rows(
    material: Material, environment: str, way: str, document: Document | None
) -> list[dict[str, Any]]:
    """Return a row for each way in which the launches of an environment found themselves."""
    container = document["container"] if document else {}
    fixed = {
        "environment": environment,
        "way": way,
        "runtime": container.get("runtime"),
        "commit": container.get("commit"),
        "reason": short_detail(material.documents.get(environment, {}).get("reason")),
    }
    found: dict[str, dict[str, Any]] = {}
    for facts in material.facts(environment):
        row = {
            **fixed,
            "own": _own_namespaces(facts["namespaces"]),
            "shm": _word(facts["dev_shm_shared"], "one for all", "several"),
            "readv": _word(facts["process_vm_readv"], "can be read", "cannot be read"),
            "container": facts["container"],
            **{f"namespaces_{kind}": number for kind, number in facts["namespaces"].items()},
        }
        kept = found.setdefault(repr(row), {**row, "launches": 0})
        kept["launches"] += facts["launches"]
    return list(found.values()) or [{**fixed, "container": container.get("image")}]


def _word(value: bool | None, yes: str, no: str) -> str | None:
    return None if value is None else yes if value else no


def _own_namespaces(found: Mapping[str, int | None]) -> str | None:
    """Return the kinds of namespaces the ranks do not share; ``none`` where they share all."""
    own = [kind for kind, number in found.items() if number is not None and number > 1]
    unknown = [kind for kind, number in found.items() if number is None]
    if len(unknown) == len(found):
        return None
    told = ", ".join(own) or "none"
    return f"{told}; not told: {', '.join(unknown)}" if unknown else told


# -------------------------------------------------------------------------------- the binary


def _binaries(material: Material, held: _Held) -> Table:
    """Return which binary ran on which library, and what it verified."""
    names = [*dict.fromkeys(twin.name for twin in held.twins)]
    native = list(dict.fromkeys(twin.native for twin in held.twins))
    rows = []
    for name in (*names, *native):
        kernels = dict.fromkeys(facts["kernel"] for facts in material.facts(name))
        for kernel in kernels:
            own = [facts for facts in material.facts(name) if facts["kernel"] == kernel]
            rows += [_binary_row(material, name, kernel, facts) for facts in _distinct(own)]
    rows.sort(key=lambda row: (row["kernel"], row["environment"] in native))
    kernels = dict.fromkeys(row["kernel"] for row in rows)
    said = [
        _one_binary(kernel, [r for r in rows if r["environment"] in names]) for kernel in kernels
    ]
    columns = [
        Column("kernel", "kernel", header=True),
        Column("environment", "MPI"),
        Column("digest", "SHA-256 begins"),
        Column("abi", "ABI"),
        Column("library_path", "library", prose=True),
        Column("checked", "values verified", str),
        Column("errors", "wrong", str),
    ]
    return Table(
        "abi_binaries",
        " ".join(["Which binary ran, and on which library.", *said]),
        columns,
        rows,
        csv_only=(
            Column("program_sha256", "SHA-256"),
            Column("library_version", "library, in its own words"),
            Column("launches", "launches", str),
        ),
        form="cards",
    )


def _distinct(facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the binaries and libraries of some launches, those alike together."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in facts:
        key = tuple(one[name] for name in ("program_sha256", "library_path", "abi"))
        kept = found.setdefault(key, {**one, "launches": 0})
        kept["launches"] += one["launches"]
    return list(found.values())


def _binary_row(
    material: Material, environment: str, kernel: str, facts: Mapping[str, Any]
) -> dict[str, Any]:
    cells = material.campaign.cells.filter(
        (pl.col("environment") == environment) & (pl.col("kernel") == kernel)
    )
    digest = facts["program_sha256"]
    return {
        "kernel": kernel.replace("_", " "),
        "environment": environment,
        "digest": digest[:_DIGITS] if digest else None,
        **{
            name: facts[name]
            for name in ("program_sha256", "abi", "library_path", "library_version", "launches")
        },
        "checked": int(cells["checked"].sum()),
        "errors": int(cells["errors"].sum()),
    }


def _one_binary(kernel: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say whether all environments of the image ran one binary of a kernel."""
    own = [row for row in rows if row["kernel"] == kernel]
    digests = {row["program_sha256"] for row in own}
    libraries = {row["library_path"] for row in own}
    if None in digests or not own:
        return f"{kernel}: not known whether it is one binary."
    if len(digests) > 1:
        return f"{kernel}: {len(digests)} binaries, so nothing is said of one."
    on = numbers.count(len(libraries), "library", "libraries")
    return f"{kernel}: one binary on {on}."
