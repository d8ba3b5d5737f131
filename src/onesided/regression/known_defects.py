"""Known defects: failures by a fault that its owner knows, and how the fault shows.

A site keeps them in ``references/known_defects.yaml``. A failure that a defect explains is an
expected failure of ReFrame's. A defect that no longer shows is reported, too, so that no entry
outlives its fault.
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
    """One entry of the file.

    Attributes:
        name: a short one, for ReFrame's tables.
        issue: address of the issue that its owner keeps.
        what: one line.
        shows_as: a failure's status (``crash``), ``turned``, or ``slow`` (above its bound).
        partitions: patterns of ``<system>:<partition>``, as of a shell.
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
        """The message of ReFrame for an expected failure."""
        return f"{self.what} ({self.issue})"

    def is_of(self, partition: str, environment: str, test: str) -> bool:
        """Tell whether a test may show the defect."""
        return (
            _fits(partition, self.partitions)
            and _fits(environment, self.environments)
            and _fits(test, self.tests)
        )

    def has(self, cell: str) -> bool:
        """Tell whether a cell may show the defect."""
        return _fits(cell, self.cells)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    # a test's name holds % and =, a cell's , and =: none of them means anything in a pattern
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read(folder: Path) -> list[Defect]:
    """Return the known defects that a folder of references keeps; none without the file.

    Raises:
        InputError: the file is no YAML, does not fit its schema, or has a name twice.
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
    """Return for each defect, by name, the cells at fault that it explains.

    Args:
        defects: those of the test; a cell is accounted for by the first that fits.
        faults: how each cell at fault shows it.
    """
    found: dict[str, list[str]] = {defect.name: [] for defect in defects}
    for cell, shows_as in faults.items():
        for defect in defects:
            if defect.shows_as == shows_as and defect.has(cell):
                found[defect.name].append(cell)
                break
    return found
