"""A partition of a site file that is checked, and what was found in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided.system.errors import InputError

Entry = dict[str, Any]

#: What Slurm starts ranks with.
SRUN = "srun"


@dataclass
class Findings:
    """What was found in a site file.

    Attributes:
        faults: what has to be mended.
        notes: what is worth to know.
        partitions: a line for each partition that could be read.
    """

    faults: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    partitions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Partition:
    """A partition of a site file, and where it is.

    Attributes:
        path: the file.
        name: ``system:partition``.
        entry: ReFrame's entry.
        documents: those of its environments, by ReFrame's names; None without one of ours.
        is_here: the file is this machine's.
    """

    path: Path
    name: str
    entry: Entry
    documents: dict[str, Entry | None]
    is_here: bool

    def fault(self, where: str, found: object, expected: str) -> InputError:
        """Return a fault in a field of the partition."""
        return InputError(self.path, f"{self.name}: {where}", found, expected)

    @property
    def ready(self) -> list[Entry]:
        """The documents of the environments that can run."""
        return [one for one in self.documents.values() if one and one["status"] == "ready"]

    @property
    def extras(self) -> Entry:
        """What the partition says in extras."""
        return self.entry.get("extras", {})

    @property
    def interfaces(self) -> Entry:
        """What the partition says in ``srun_mpi``; nothing where it is no mapping."""
        said = self.extras.get("srun_mpi")
        return said if isinstance(said, dict) else {}

    @property
    def features(self) -> list[str]:
        """What the partition says in features."""
        return self.entry.get("features", [])
