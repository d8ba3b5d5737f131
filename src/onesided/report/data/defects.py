"""Defects that upstream knows: which cells probe them, and whether they show.

They are data: ``config/upstream_defects.yaml``, described by ``upstream_defects.schema.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onesided.analysis import verdicts
from onesided.report.data.counts import SAYS_NOTHING, SETTING
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.system import documents
from onesided.system.paths import config_dir

FILE = "upstream_defects.yaml"
SCHEMA = "upstream_defects"
SHOWS, GONE, OTHERWISE = "shows", "does not show", "failed otherwise"
NOT_AS_SAID, NOT_SAID = "not as said", "not said"
PARTS_OF_VERSION = 3


@dataclass(frozen=True)
class UpstreamDefect:
    """One entry of the file.

    Attributes:
        id: ``<owner>/<repository>#<number>`` of the thread.
        what: one line.
        family: of MPIs, as in config/environments.yaml.
        since: the oldest version that the thread names; None: it names none.
        until: the first version without it; None: the thread names none.
        fixed: where it was mended, in upstream's words; None: open, or not said.
        shows_as: verdicts.
        probe: values of axes, `setting` included; cells that have one of each probe it.
    """

    id: str
    what: str
    family: str
    since: str | None
    until: str | None
    fixed: str | None
    shows_as: tuple[str, ...]
    probe: Mapping[str, Sequence[str]]

    def is_probed_by(self, labels: Mapping[str, Any], setting: str | None) -> bool:
        """Tell whether a cell probes it."""
        if str(setting) not in self.probe.get(SETTING, (str(setting),)):
            return False
        for axis, values in self.probe.items():
            if axis != SETTING and str(labels.get(axis)) not in values:
                return False
        return True

    def is_said_of(self, family: str, version: str) -> bool | None:
        """Tell whether a version is said to have it; None where the thread does not say."""
        if family != self.family:
            return False
        if not version:
            return None
        number = _numbers(version)
        since = None if self.since is None else _numbers(self.since)
        until = None if self.until is None else _numbers(self.until)
        if (since is not None and number < since) or (until is not None and number >= until):
            return False
        return True if since is not None and (until is not None or number == since) else None

    def affects(self, family: str, version: str) -> bool:
        """Tell whether a version may have it, by what is said."""
        return self.is_said_of(family, version) is not False


def _numbers(version: str) -> tuple[int, ...]:
    """Return what sorts versions as people count them: 4.1.8 before 4.1.10; 4.1 is 4.1.0."""
    found = [int(number) for number in re.findall(r"\d+", version)[:PARTS_OF_VERSION]]
    return tuple(found + [0] * (PARTS_OF_VERSION - len(found)))


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
            fixed=entry.get("fixed"),
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
        run: dict[str, dict[str, list[Cell]]] = {name: {} for name in material.environments}
        for cell in material.cells:
            if cell.verdict not in SAYS_NOTHING:
                run[cell.environment].setdefault(str(cell.setting), []).append(cell)
        rows = []
        for defect in known():
            found = {
                name: _word(defect, cells, *where.get(name, ("", "")))
                for name, cells in run.items()
            }
            if any(found.values()):
                rows.append(
                    {
                        "id": defect.id,
                        "what": defect.what,
                        "since": defect.since or NOT_SAID,
                        "fixed": defect.until or defect.fixed or NOT_SAID,
                        **found,
                    }
                )
        if not rows:
            return []
        columns = [
            Column("id", "defect", header=True),
            Column("what", "what", prose=True),
            Column("since", "seen in"),
            Column("fixed", "fixed in"),
            *(Column(name, name) for name in material.environments),
        ]
        return [Table(self.name, self.caption, columns, rows, large=True)]


def _word(
    defect: UpstreamDefect, run: Mapping[str, Sequence[Cell]], family: str, version: str
) -> str | None:
    """Return whether an MPI shows a defect; None where the MPI is another or nothing probed it.

    Args:
        defect: as upstream knows it.
        run: the cells of the MPI that were run, by setting.
        family: of the MPI.
        version: of the MPI.
    """
    if family != defect.family:
        return None
    own = [
        cell
        for setting in defect.probe.get(SETTING, tuple(run))
        for cell in run.get(setting, ())
        if defect.is_probed_by(cell.labels, setting)
    ]
    shown = sum(cell.verdict in defect.shows_as for cell in own)
    otherwise = sum(cell.verdict in verdicts.FAILURES for cell in own) - shown
    right = len(own) - shown - otherwise
    said = defect.is_said_of(family, version)
    if shown:
        words = [f"{SHOWS}: {shown} of {len(own)}"]
    else:
        words = [f"{GONE}: {right} right"] if right else []
        words += [f"{otherwise} {OTHERWISE}"] if otherwise else []
    if said is (not shown) and (shown or right):
        words.append(NOT_AS_SAID)
    return ", ".join(words) or None
