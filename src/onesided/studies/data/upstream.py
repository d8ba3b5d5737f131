"""The defects that an MPI's own project (upstream) knows, and whether a campaign shows them.

The file ``config/upstream_defects.yaml`` lists the defects. Its schema is
``upstream_defects.schema.json``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onesided.cells import verdicts
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Row, Table
from onesided.studies.data.counts import SETTING, TEXT, run_by_name
from onesided.system import documents
from onesided.system.paths import config_dir

FILE = "upstream_defects.yaml"
SCHEMA = "upstream_defects"
SHOWS, GONE, OTHERWISE = "shows", "does not show", "failed otherwise"
NOT_SEEN = "not seen, comes now and then"
NOT_PROBED = "not probed"
NOT_AS_SAID, NOT_SAID = "not as said", "not said"
PARTS_OF_VERSION = 3

Release = tuple[str, str]
"""An MPI's family and version, such as ``("mpich", "4.3.0")``."""

UNKNOWN: Release = ("", "")


def releases_of(record: Mapping[str, Any]) -> dict[str, Release]:
    """Return the family and the version of each environment of a campaign's record."""
    return {
        document["name"]: (str(document.get("family")), str(document.get("version") or ""))
        for document in record.get("environments", [])
        if "name" in document
    }


@dataclass(frozen=True, eq=False)
class UpstreamDefect:
    """A defect that the MPI's own project knows: one entry of ``config/upstream_defects.yaml``.

    Attributes:
        id: ``<owner>/<repository>#<number>`` of the thread.
        what: what goes wrong, in one line.
        family: the family of MPIs, as in config/environments.yaml.
        shows_as: the verdicts of cells that show the defect.
        facts: what the thread says about its program: values of axes, ranks, transport.
        probe: for each axis and for `setting`, some values. A cell probes the defect if it has one
            of these values on each axis.
        since: the oldest version that the thread names, if any.
        until: the first version without the defect, if the thread names one.
        fixed: where the defect was fixed, in upstream's words; None if the defect is open or
            upstream does not say.
        not_probed: why no cell probes the defect; None if `probe` selects cells.
        now_and_then: whether the thread's program fails in only some runs.
    """

    id: str
    what: str
    family: str
    shows_as: Sequence[str]
    facts: Mapping[str, Any]
    probe: Mapping[str, Sequence[str]]
    since: str | None = None
    until: str | None = None
    fixed: str | None = None
    not_probed: str | None = None
    now_and_then: bool = False

    def is_probed_by(self, labels: Mapping[str, Any], setting: str | None) -> bool:
        """Tell whether a cell with the given labels and setting probes the defect."""
        own = {**labels, SETTING: setting}
        return not self.not_probed and has_one_of(own, self.probe)

    def is_said_of(self, release: Release) -> bool | None:
        """Tell whether the thread says that a version has the defect; None if it does not say."""
        family, version = release
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

    def affects(self, release: Release) -> bool:
        """Tell whether, according to the public thread, a version may have the defect."""
        return self.is_said_of(release) is not False

    def accounts_for(self, cell: Cell, release: Release) -> bool:
        """Tell whether this defect may be the cause of a cell's failure."""
        is_alike = cell.verdict in self.shows_as and self.affects(release)
        return is_alike and self.is_probed_by(cell.labels, cell.setting)


def has_one_of(labels: Mapping[str, Any], values: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a cell has one of the given values on each of the given axes."""
    return all(str(labels.get(axis)) in each for axis, each in values.items())


def texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from axes to values, with a tuple of strings in place of each list."""
    return {
        axis: tuple(map(str, each)) if isinstance(each, list) else each
        for axis, each in values.items()
    }


def _numbers(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions by number: 4.1.8 before 4.1.10; 4.1 and 4.1.0 are equal."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:PARTS_OF_VERSION]]
    return tuple(numbers + [0] * (PARTS_OF_VERSION - len(numbers)))


@cache
def known() -> tuple[UpstreamDefect, ...]:
    """Return all defects in ``config/upstream_defects.yaml``.

    Raises:
        InputError: the file does not fit its schema.
    """
    document = documents.read_yaml(config_dir() / FILE, SCHEMA)
    return tuple(
        UpstreamDefect(
            **{name: value for name, value in entry.items() if name not in ("facts", "probe")},
            facts=texts(entry["facts"]),
            probe=texts(entry.get("probe", {})),
        )
        for entry in document["defects"]
    )


def known_of(cell: Cell, release: Release) -> list[UpstreamDefect]:
    """Return the upstream defects that may be the cause of a cell's failure."""
    return [defect for defect in known() if defect.accounts_for(cell, release)]


class Defects:
    """A table of upstream defects: a table row for each defect, and a column for each MPI.

    The table has defects of the campaign's MPI families. A defect has no table row if only cells of
    other campaigns probe it; the caption gives the number of these defects. If no cell of any
    campaign can probe a defect, the defect's table row says why.
    """

    def parts(self, material: Material) -> list[Table]:
        """Return the table of upstream defects, or no table if it would be empty."""
        releases = releases_of(material.campaign.record)
        run = {
            name: grouped(cells, lambda cell: str(cell.setting))
            for name, cells in run_by_name(material).items()
        }
        families = {releases.get(name, UNKNOWN)[0] for name in run}
        own = [defect for defect in known() if defect.family in families]
        rows = []
        for defect in own:
            words = {name: _word(defect, run[name], releases.get(name, UNKNOWN)) for name in run}
            rows += [_row(defect, words)] if any(words.values()) else []
        if not rows:
            return []
        left = len(own) - len(rows)
        names = {"mpi": {name: {} for name in material.environments}}
        return [TEXT.table("data_defects", rows, each=names, left=_left(left) if left else "")]


def _row(defect: UpstreamDefect, words: Mapping[str, str | None]) -> Row:
    return {
        "id": defect.id,
        "what": defect.what,
        "since": defect.since or NOT_SAID,
        "fixed": defect.until or defect.fixed or NOT_SAID,
        **words,
    }


def _left(number: int) -> str:
    """Say how many defects only cells of other campaigns probe."""
    words = "needs a cell" if number == 1 else "need cells"
    return f" {number} more {words} that this campaign does not run."


def _word(
    defect: UpstreamDefect, run: Mapping[str, Sequence[Cell]], release: Release
) -> str | None:
    """Say whether cells of an MPI show an upstream defect.

    The result is None if the defect is of another family of MPIs, or if no cell probed the defect.
    `run` has the cells of the MPI that were run, by setting.
    """
    if release[0] != defect.family:
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
    if shown:
        words = [f"{SHOWS}: {shown} of {len(own)}"]
    else:
        gone = NOT_SEEN if defect.now_and_then else GONE
        words = [f"{gone}: {right} right"] if right else []
        words += [f"{otherwise} {OTHERWISE}"] if otherwise else []
    is_told = bool(shown or (right and not defect.now_and_then))
    if is_told and defect.is_said_of(release) is (not shown):
        words.append(NOT_AS_SAID)
    return ", ".join(words) or None
