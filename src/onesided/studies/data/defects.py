"""Defects that upstream knows: which cells probe them, and whether they show.

They are data: ``config/upstream_defects.yaml``, described by ``upstream_defects.schema.json``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onesided.cells import verdicts
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.studies.data.counts import SAYS_NOTHING, SETTING
from onesided.studies.data.versions import families_of
from onesided.system import documents
from onesided.system.paths import config_dir

FILE = "upstream_defects.yaml"
SCHEMA = "upstream_defects"
SHOWS, GONE, OTHERWISE = "shows", "does not show", "failed otherwise"
NOT_SEEN = "not seen, comes now and then"
NOT_PROBED = "not probed"
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
        facts: what the thread says of its program: values of axes, ranks, transport.
        probe: values of axes, `setting` included; cells that have one of each probe it.
        not_probed: why no cell does; None where `probe` says which.
        is_chance: the thread's program fails in some of its runs only.
    """

    id: str
    what: str
    family: str
    since: str | None
    until: str | None
    fixed: str | None
    shows_as: tuple[str, ...]
    facts: Mapping[str, Any]
    probe: Mapping[str, Sequence[str]]
    not_probed: str | None = None
    is_chance: bool = False

    def is_probed_by(self, labels: Mapping[str, Any], setting: str | None) -> bool:
        """Tell whether a cell probes it."""
        if self.not_probed or str(setting) not in self.probe.get(SETTING, (str(setting),)):
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


def _texts(found: Any) -> Any:
    """Return values of an axis as labels have them, and what is no list as it is."""
    return tuple(map(str, found)) if isinstance(found, list) else found


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
            facts={name: _texts(found) for name, found in entry["facts"].items()},
            probe={axis: _texts(found) for axis, found in entry.get("probe", {}).items()},
            not_probed=entry.get("not_probed"),
            is_chance=entry.get("now_and_then", False),
        )
        for entry in document["defects"]
    )


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
    """A row for each defect that a family of the campaign may have, a column for each MPI.

    What no cell of the campaign probes has no row: the caption counts it. What no cell of any
    campaign can probe has one, with the reason.
    """

    name: str
    caption: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where no cell probes any."""
        where = families_of(material.campaign.record)
        run: dict[str, dict[str, list[Cell]]] = {name: {} for name in material.environments}
        for cell in material.cells:
            if cell.verdict not in SAYS_NOTHING:
                run[cell.environment].setdefault(str(cell.setting), []).append(cell)
        names = [name for name, cells in run.items() if cells]
        own = [
            one for one in known() if one.family in {where.get(name, ("",))[0] for name in names}
        ]
        rows, left = [], 0
        for defect in own:
            found = {name: _word(defect, run[name], *where.get(name, ("", ""))) for name in names}
            left += not any(found.values())
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
        caption = self.caption + (f" {_left(left)}" if left else "")
        return [Table(self.name, caption, columns, rows, large=True)]


def _left(number: int) -> str:
    """Say how many defects need cells that the campaign does not have."""
    words = "needs a cell" if number == 1 else "need cells"
    return f"{number} more {words} that this campaign does not run."


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
    if defect.not_probed:
        return f"{NOT_PROBED}: {defect.not_probed}"
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
        gone = NOT_SEEN if defect.is_chance else GONE
        words = [f"{gone}: {right} right"] if right else []
        words += [f"{otherwise} {OTHERWISE}"] if otherwise else []
    if said is (not shown) and (shown or (right and not defect.is_chance)):
        words.append(NOT_AS_SAID)
    return ", ".join(words) or None
