"""Known defects: faults that were reported to the owners of MPIs, and the failures they cause.

A site lists the known defects that concern it in ``references/known_defects.yaml``. If a known
defect explains a failure, ReFrame treats it as an expected failure. If a known defect no longer
causes a failure, ReFrame reports this, so that the site can remove the defect from the list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from onesided.system import documents
from onesided.system.errors import InputError

FILE = "known_defects.yaml"
TURNED = "turned"
SLOW = "slow"
ANYTHING = ("*",)


@dataclass(frozen=True)
class Defect:
    """A known defect: one entry of known_defects.yaml.

    Attributes:
        name: a short name, for ReFrame's tables.
        issue: the address of the report to the owner of the fault.
        what: the defect in one line.
        shows_as: how a cell with the defect fails: a status such as ``crash``, ``turned`` (the cell
            was independent and now waits), or ``slow`` (a value is above its bound).
        partitions: shell patterns of ``<system>:<partition>``.
        environments: patterns of environments' names.
        tests: patterns of tests' display names.
        cells: patterns of cells' ids.
    """

    name: str
    issue: str
    what: str
    shows_as: str
    partitions: tuple[str, ...] = ANYTHING
    environments: tuple[str, ...] = ANYTHING
    tests: tuple[str, ...] = ANYTHING
    cells: tuple[str, ...] = ANYTHING

    @property
    def message(self) -> str:
        """The message that ReFrame shows for a failure that this defect explains."""
        return f"{self.what} ({self.issue})"

    def is_of(self, partition: str, environment: str, test: str) -> bool:
        """Tell whether a test's partition, environment and name fit the patterns of this defect."""
        return (
            _fits(partition, self.partitions)
            and _fits(environment, self.environments)
            and _fits(test, self.tests)
        )

    def has(self, cell: str) -> bool:
        """Tell whether a known defect may concern a cell: its patterns fit the cell."""
        return _fits(cell, self.cells)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    # names of tests and cells contain %, = and commas, which have no meaning in a pattern
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read(folder: Path) -> list[Defect]:
    """Return the known defects listed in a folder of references; [] if the folder lists none.

    Raises:
        InputError: the file is not YAML, does not fit its schema, or has a name twice.
    """
    path = folder / FILE
    if not path.exists():
        return []
    entries: list[Mapping[str, Any]] = documents.read_yaml(path, "known_defects")["defects"]
    names = [entry["name"] for entry in entries]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InputError(path, f"defects.{index}.name", name, "a name that is not taken")
    return [
        Defect(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in entry.items()
            }
        )
        for entry in entries
    ]


def expected(defects: Sequence[Defect], faults: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, for the name of each known defect, the failing cells that the defect explains.

    The first defect that fits a cell explains the cell. `faults` says how each failing cell fails.
    """
    found: dict[str, list[str]] = {defect.name: [] for defect in defects}
    for cell, shows_as in faults.items():
        for defect in defects:
            if defect.shows_as == shows_as and defect.has(cell):
                found[defect.name].append(cell)
                break
    return found
