"""Defects that upstream knows: which cells probe them, and whether they show.

They are data: ``config/upstream_defects.yaml``, described by ``upstream_defects.schema.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onesided.report.data.counts import SETTING
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.system import documents
from onesided.system.paths import config_dir

FILE = "upstream_defects.yaml"
SCHEMA = "upstream_defects"
SHOWS, GONE, NOT_PROBED = "shows", "does not show", "not run"


@dataclass(frozen=True)
class UpstreamDefect:
    """One entry of the file.

    Attributes:
        id: ``<owner>/<repository>#<number>`` of the thread.
        what: one line.
        family: of MPIs, as in config/environments.yaml.
        since: the first version that has it, as far as the thread says; None: not said.
        until: the first version without it; None: open, or not said.
        shows_as: verdicts.
        probe: values of axes, `setting` included; cells that have one of each probe it.
    """

    id: str
    what: str
    family: str
    since: str | None
    until: str | None
    shows_as: tuple[str, ...]
    probe: Mapping[str, Sequence[str]]

    def is_probed_by(self, labels: Mapping[str, Any], setting: str | None) -> bool:
        """Tell whether a cell probes it."""
        found = {**labels, SETTING: setting}
        return all(str(found.get(axis)) in values for axis, values in self.probe.items())

    def affects(self, family: str, version: str) -> bool:
        """Tell whether a version is said to have it."""
        if family != self.family:
            return False
        after = self.since is None or _numbers(version) >= _numbers(self.since)
        return after and (self.until is None or _numbers(version) < _numbers(self.until))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


@cache
def known() -> tuple[UpstreamDefect, ...]:
    """Read the file.

    Raises:
        InputError: the file is not what its schema says.
    """
    document = documents.read_yaml(config_dir() / FILE, SCHEMA)
    return tuple(
        UpstreamDefect(
            id=entry["id"],
            what=entry["what"],
            family=entry["family"],
            since=entry.get("since"),
            until=entry.get("until"),
            shows_as=tuple(entry["shows_as"]),
            probe={axis: tuple(map(str, values)) for axis, values in entry["probe"].items()},
        )
        for entry in document["defects"]
    )


def families(material: Material) -> dict[str, tuple[str, str]]:
    """Return the family and the version of each environment of a campaign."""
    return {
        document["name"]: (str(document.get("family")), str(document.get("version") or ""))
        for document in material.campaign.record.get("environments", [])
        if "name" in document
    }


def known_of(cell: Cell, family: str, version: str) -> list[UpstreamDefect]:
    """Return the defects that account for the failure of a cell."""
    return [
        defect
        for defect in known()
        if cell.verdict in defect.shows_as
        and defect.affects(family, version)
        and defect.is_probed_by(cell.labels, cell.setting)
    ]


@dataclass(frozen=True)
class Defects:
    """A row for each defect that a family of the campaign may have, a column for each MPI."""

    name: str
    caption: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where no cell probes any."""
        where = families(material)
        rows = []
        for defect in known():
            cells = [
                cell
                for cell in material.cells
                if where.get(cell.environment, ("", ""))[0] == defect.family
                and cell.verdict not in ("unavailable", "unsupported", "not run")
                and defect.is_probed_by(cell.labels, cell.setting)
            ]
            found = {name: self._word(defect, cells, name, where) for name in material.environments}
            if any(found.values()):
                versions = f"{defect.since or '?'} to {defect.until or 'open'}"
                rows.append({"id": defect.id, "what": defect.what, "versions": versions, **found})
        if not rows:
            return []
        columns = [
            Column("id", "defect", header=True),
            Column("what", "what", prose=True),
            Column("versions", "versions"),
            *(Column(name, name) for name in material.environments),
        ]
        return [Table(self.name, self.caption, columns, rows, large=True)]

    @staticmethod
    def _word(
        defect: UpstreamDefect,
        cells: Sequence[Cell],
        environment: str,
        where: Mapping[str, tuple[str, str]],
    ) -> str | None:
        own = [cell for cell in cells if cell.environment == environment]
        if not own:
            return None
        failed = sum(cell.verdict in defect.shows_as for cell in own)
        expected = defect.affects(*where[environment])
        word = f"{SHOWS}: {failed} of {len(own)}" if failed else f"{GONE}: {len(own)} right"
        return word if expected == bool(failed) else f"{word}, not as said"
