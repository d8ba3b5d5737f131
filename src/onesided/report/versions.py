"""Several campaigns side by side: columns for MPI versions, rows for ways to access a window."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from onesided.cells.experiment import Experiments
from onesided.report import answers, numbers, scope
from onesided.report.answers import together
from onesided.report.cells import apart, grouped
from onesided.report.material import Cell, Loaded, load
from onesided.report.pairs import write_page
from onesided.report.parts import Column, Mark, Matrix, MatrixRow, Section, Table
from onesided.report.words import listed, tally

Way = tuple[str, str]
"""How a program may access a window, as two texts: a heading, and a name below this heading."""


@dataclass(frozen=True)
class Version:
    """A version of an MPI in a campaign.

    Attributes:
        name: the name of the version. The campaign's day is added if several campaigns measured the
            MPI.
        campaign: the index of the campaign among the campaigns asked for, from 0.
        environment: the MPI's name in the campaign.
    """

    family: str
    name: str
    campaign: int
    environment: str


@dataclass(frozen=True)
class SideBySide:
    """The results of an experiment in several campaigns.

    Attributes:
        versions: the columns. The versions of a family are together, the oldest version first.
        ways: the cells of each way, by version. Versions without such cells are left out.
    """

    kernel: str
    title: str
    versions: Sequence[Version]
    ways: Mapping[Way, Mapping[Version, Sequence[Cell]]]

    def changes(self) -> list[str]:
        """Return a line of text for each verdict that changed from one version to the next."""
        return [
            f"{heading}, {name}: {new.family} {new.name}: {now}; {old.name}: {before}."
            for (heading, name), found in self.ways.items()
            for (old, before), (new, now) in pairwise(
                (version, together(cells).word) for version, cells in found.items()
            )
            if old.family == new.family and before != now
        ]


def _day(loaded: Loaded) -> str:
    started = loaded.campaign.started
    return started[0][:10] if started else "not measured"


def _in_order(text: str) -> list[tuple[int, int | str]]:
    """Return a key that sorts versions by their numbers: 5.0.2 before 5.0.11."""
    parts = re.findall(r"\d+|\D+", text)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _versions(every: Sequence[Loaded], environments: Sequence[Sequence[str]]) -> list[Version]:
    """Return a column for each campaign and each environment that ran the experiment."""
    found = []
    for at, (loaded, names) in enumerate(zip(every, environments, strict=True)):
        several = len({_day(one) for one in every}) > 1
        for name in names:
            family, _, version = name.partition("-")
            again = sum(name in others for others in environments) > 1
            when = (_day(loaded) if several else f"campaign {at + 1}") if again else ""
            found.append(Version(family, ", ".join(filter(None, (version, when))), at, name))
    families = list(dict.fromkeys(one.family for one in found))
    return sorted(found, key=lambda one: (families.index(one.family), _in_order(one.name)))


def side_by_side(every: Sequence[Loaded]) -> list[SideBySide]:
    """Return the results of all experiments that judge progress: their pages define `way_rows`."""
    materials = [
        {material.experiment.kernel: material for material in loaded.materials()}
        for loaded in every
    ]
    found = []
    for kernel, experiment in every[0].experiments.items():
        way_rows = getattr(experiment.page, "way_rows", None)
        if way_rows is None or not any(kernel in known for known in materials):
            continue
        own = [apart(known[kernel]) if kernel in known else None for known in materials]
        rows = [way_rows(one.cells) if one else {} for one in own]
        columns = _versions(every, [one.environments if one else () for one in own])
        ways = {way: {} for way in dict.fromkeys(way for one in rows for way in one)}
        for way, version in product(ways, columns):
            cells = rows[version.campaign].get(way, ())
            if here := [cell for cell in cells if cell.environment == version.environment]:
                ways[way][version] = here
        found.append(SideBySide(kernel, experiment.title, columns, ways))
    return found


def matrix(beside: SideBySide) -> Matrix:
    """Return the matrix: one row for each way to access a window, one column for each version."""
    rows = [
        MatrixRow(*way, [_marks(version, way, found.get(version)) for version in beside.versions])
        for way, found in beside.ways.items()
    ]
    long_form = [
        _row(way, version, cells)
        for way, found in beside.ways.items()
        for version, cells in found.items()
    ]
    caption = f"{beside.title}: does an access complete while its target computes?"
    table = Table(f"versions_{beside.kernel}", caption, _COLUMNS, long_form)
    by_family = grouped(beside.versions, lambda version: version.family)
    columns = [(family, [one.name for one in some]) for family, some in by_family.items()]
    return Matrix(table.name, caption, columns, rows, table)


def _marks(version: Version, way: Way, cells: Sequence[Cell] | None) -> list[Mark]:
    if not cells:
        return []
    title = f"{numbers.count(len(cells), 'cell')}: {tally([cell.verdict for cell in cells])}"
    sizes = listed(scope.sizes(cells))
    title += f"; {sizes}" if sizes else ""
    which = f"{version.family} {version.name}: {', '.join(way)}"
    return [Mark(together(cells).word, title, name=which)]


_COLUMNS = (
    Column("heading", "what", header=True),
    Column("name", "how"),
    Column("family", "MPI"),
    Column("version", "version"),
    Column("environment", "environment"),
    Column("campaign", "campaign", str),
    Column("verdict", "verdict", verdict=True),
    Column("cells", "cells", str),
    Column("tally", "verdicts of the cells"),
)


def _row(way: Way, version: Version, cells: Sequence[Cell]) -> dict[str, Any]:
    return {
        "heading": way[0],
        "name": way[1],
        "family": version.family,
        "version": version.name,
        "environment": version.environment,
        "campaign": version.campaign + 1,
        "verdict": together(cells).word,
        "cells": len(cells),
        "tally": tally([cell.verdict for cell in cells]),
    }


def _campaigns(every: Sequence[Loaded]) -> Table:
    rows = [
        {
            "at": at,
            "campaign": loaded.campaign.name,
            "day": _day(loaded),
            "commit": str(loaded.campaign.record.get("commit") or "not known"),
            "scope": " ".join(scope.sentences(loaded)),
        }
        for at, loaded in enumerate(every, 1)
    ]
    columns = [
        Column("at", "no.", str, header=True),
        Column("campaign", "campaign"),
        Column("day", "first launch"),
        Column("commit", "commit"),
        Column("scope", "what was measured", prose=True),
    ]
    return Table("versions_campaigns", "The campaigns, as they were given.", columns, rows)


def sentences(found: Sequence[SideBySide]) -> list[str]:
    """Return sentences that say which verdicts changed, or that no verdict changed."""
    said = [line for beside in found for line in beside.changes()]
    if said:
        count = numbers.count(len(said), "verdict")
        return [f"{count} changed from one version to the next.", *said]
    return ["No verdict changed from one version to the next."]


def read(
    folders: Sequence[Path], experiments: Experiments
) -> tuple[list[Loaded], list[SideBySide]]:
    """Read campaigns and put their results side by side.

    Raises:
        InputError: a file is missing, cut or of another schema version.
    """
    every = [load(folder, experiments) for folder in folders]
    return every, side_by_side(every)


def build(every: Sequence[Loaded], found: Sequence[SideBySide], folder: Path) -> Path:
    """Write the page and its CSVs; return the path of the page. The page is written last.

    Raises:
        OnesidedError: a file cannot be written.
    """
    lead = (
        "A column is a version of an MPI. Select a symbol to see which cells it stands for. "
        f"{answers.MIXED.capitalize()} means that its cells differ; the report of the campaign has "
        "each of them."
    )
    return write_page(
        folder,
        "versions",
        kicker=f"onesided · {numbers.count(len(every), 'campaign')}",
        heading="Since which version does an access complete while its target computes?",
        sentences=sentences(found),
        sections=[
            Section("versions", "Versions side by side", lead, tuple(map(matrix, found))),
            Section("provenance", "Where this comes from", "", (_campaigns(every),)),
        ],
    )
