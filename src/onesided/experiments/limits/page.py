"""The page of the machine's own bounds: one table, and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import value_or_word
from onesided.report.frame import Material
from onesided.report.parts import Column, Headline, Section, Table

TITLES: Mapping[str, str] = {
    "atomic_add": "atomic add",
    "atomic_add_contended": "atomic add, two at once",
    "compare_and_swap": "compare and swap",
    "compare_and_swap_contended": "compare and swap, two at once",
    "copy": "copy into shared memory",
    "socket_round_trip": "round trip over loopback TCP",
    "thread_creation": "create and join a thread",
    "timer": "read the clock",
}
"""What a reader calls each bound of the kernel."""


def headline(material: Material) -> Headline | None:
    """Return none: the bounds answer nothing, they are what answers are held against."""
    return None


def terminal_lines(material: Material) -> list[str]:
    """Return no line, for the same reason."""
    return []


def _rows(material: Material) -> list[dict[str, Any]]:
    """Return a row a bound, in the order declared, with a value an environment."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in material.cells:
        bound, size = str(cell.labels["bound"]), int(cell.labels["size_bytes"])
        # no launch model: it is not known of an environment that could not be had
        where = (cell.system, cell.partition, cell.ranks, cell.placement)
        row = rows.setdefault(
            (*where, bound, size),
            {
                "bound": TITLES.get(bound, bound),
                "size_bytes": size,
                "where": cell.group_label,
            },
        )
        row[cell.environment] = value_or_word(material, cell, "time", "median")
    return list(rows.values())


def sections(material: Material) -> list[Section]:
    """Return the one section."""
    rows = _rows(material)
    where = Column("where", "where and how", prose=True)
    several = len({row["where"] for row in rows}) > 1
    columns = [
        Column("bound", "bound", header=True),
        Column("size_bytes", "bytes", str),
        *(
            Column(name, f"beside {name}", numbers.seconds, measure=True, unit="s")
            for name in material.environments
        ),
        *([where] if several else []),
    ]
    table = Table(
        "limits",
        Markup(
            "Time of one operation in a burst, median over launches with its {}. Two at once: "
            "both processes work on one cache line; only bursts in which the other did so count."
        ).format(material.interval_words),
        columns,
        rows,
        csv_only=() if several else (where,),
    )
    lead = (
        "What this machine needs for the things that one-sided communication is made of, with no "
        "MPI in it: they tell how much of a price measured here is the machine's and how much the "
        "MPI's. They do not depend on the MPI; where its columns differ, the machine did."
    )
    return [Section("limits", "The machine's bound", lead, (table,))]
