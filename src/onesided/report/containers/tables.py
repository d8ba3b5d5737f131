"""Verdicts that differ from the native ones, and the environments as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onesided.compare import compare, weigh
from onesided.compare.reproducibility import Pair
from onesided.report import numbers
from onesided.report.beside import axes_that_differ, measure_of_difference
from onesided.report.containers.twins import Held, Topic, Twin, is_lost, is_turned
from onesided.report.parts import Column, Table
from onesided.report.words import listed, short_detail

# --------------------------------------------------------------------------------- verdicts


def _turned_row(pair: Pair, twin: Twin, axes: Sequence[str]) -> dict[str, Any]:
    return {
        "native": twin.native,
        "environment": twin.name,
        "way": twin.way,
        "kernel": pair.cell["kernel"].replace("_", " "),
        "what": cell_words(pair, axes),
        "setting": pair.cell["setting"],
        "thread_level": pair.cell["thread_level"],
        "verdict_native": pair.cell["verdict"],
        "verdict": pair.again["verdict"],
        "turn": compare.turn(pair) or compare.OPEN,
        "reason": short_detail(pair.again["detail"]),
        "test": pair.cell["test"],
        "cell": pair.cell["cell"],
    }


def verdicts_table(topic: Topic, held: Held) -> Table:
    """Return the cells whose verdicts differ from the native ones, worse ones first."""
    rows = []
    turned = [pair for pair in held.pairs if is_turned(pair)]
    for twin in held.twins:
        own = held.of(twin)
        if is_lost(own):
            words = f"every cell ({len(own)})"
            all_alike = dict.fromkeys(("setting", "thread_level", "verdict_native", "test", "cell"))
            rows.append({**_turned_row(own[0], twin, ()), **all_alike, "what": words})
            continue
        for kernel in dict.fromkeys(pair.cell["kernel"] for pair in own):
            cells = [pair for pair in own if pair.cell["kernel"] == kernel]
            axes = axes_that_differ(cells)
            rows += [_turned_row(pair, twin, axes) for pair in cells if is_turned(pair)]
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


def cell_words(pair: Pair, axes: Sequence[str]) -> str:
    """Return a cell's values on some axes."""
    labels = pair.cell["labels"]
    return ", ".join(str(labels[axis]) for axis in axes if axis in labels)


# --------------------------------------------------------------------------- taken together


def environments_table(topic: Topic, held: Held) -> Table:
    """Return the ratio to native of each environment as a whole."""
    ways = {twin.name: twin.way for twin in held.twins}
    rows = []
    for whole in held.inside.wholes:
        own = [
            pair
            for pair in held.pairs
            if (pair.cell["environment"], pair.again["environment"])
            == (whole.environment, whole.again)
            and all(pair.cell[key] == getattr(whole, key) for key in _OF_WHOLE)
            and whole.kernel in (weigh.EVERYTHING, pair.cell["kernel"])
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
            for k, merit in held.merits.items()
            if k in kernels
        ]
    )
    caption = (
        f"Geometric mean over cells and launches of the ratio to native ({metrics}), with its "
        f"95{numbers.THIN_SPACE}% interval over launches; {weigh.SAME}: noise explains it."
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
