"""The defects that this project found in current MPIs, and which of them a campaign's MPIs have.

The file ``config/found_defects.yaml`` lists the defects. Its schema is
``found_defects.schema.json``. The folder ``docs/defects`` has a text and a C program for each
defect. A report has copies of these texts and programs beside its pages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from onesided.cells import verdicts
from onesided.environments.settings import DEFAULT
from onesided.report import numbers
from onesided.report.material import Cell, Material
from onesided.report.parts import Table
from onesided.report.words import listed
from onesided.studies.data.counts import TEXT, run_by_name
from onesided.studies.data.upstream import UNKNOWN, Release, has_one_of, releases_of, texts
from onesided.system import documents
from onesided.system.paths import config_dir, project_root

FILE = "found_defects.yaml"
SCHEMA = "found_defects"
TEXTS = "docs/defects"
FOLDER = "defects"
"""The folder inside a report that has the defects' texts and programs."""

_THREAD = re.compile(r"([A-Za-z0-9-]+/[A-Za-z0-9._-]+)#([0-9]+)")


@dataclass(frozen=True, eq=False)
class FoundDefect:
    """A defect that this project found: one entry of ``config/found_defects.yaml``.

    Attributes:
        text: the name of the text in ``docs/defects``, without the ending.
        title: the heading of the text.
        wrong: what goes wrong, in a few words.
        program: the file name of the C program beside the text.
        shows_as: the verdicts of cells that show the defect.
        mpi: the MPI with the defect, in words.
        upstream: what upstream knows about the defect.
        seen: where the program failed: family, versions, settings; also the build if only one build
            fails.
        cells: for each axis, some values. A cell meets the defect if it has one of these values on
            each axis. None if no cell is known to meet the defect.
    """

    text: str
    title: str
    wrong: str
    program: str
    shows_as: Sequence[str]
    mpi: str
    upstream: str
    seen: Sequence[Mapping[str, Any]]
    cells: Mapping[str, Sequence[str]] | None = None

    def _seen_in(self, release: Release) -> list[Mapping[str, Any]]:
        family, version = release
        return [at for at in self.seen if at["family"] == family and version in at["versions"]]

    def settings_of(self, release: Release) -> list[str]:
        """Return the settings in which an MPI version showed the defect; an empty list if none."""
        return list(dict.fromkeys(name for at in self._seen_in(release) for name in at["settings"]))

    def wrong_in(self, release: Release) -> str:
        """Say what goes wrong in an MPI version, and in which build if only one build failed."""
        builds = {at.get("build") for at in self._seen_in(release)}
        (build,) = builds if len(builds) == 1 else (None,)
        return f"{self.wrong} (in the build of {build})" if build else self.wrong

    def is_met_by(self, cell: Cell, settings: Sequence[str]) -> bool:
        """Tell whether a cell, in one of the settings, does the same as the defect's C program."""
        if self.cells is None or cell.setting not in settings:
            return False
        return has_one_of(cell.labels, self.cells)


@cache
def every_defect() -> tuple[FoundDefect, ...]:
    """Return all defects in ``config/found_defects.yaml``.

    Raises:
        InputError: the file does not fit its schema.
    """
    document = documents.read_yaml(config_dir() / FILE, SCHEMA)
    return tuple(
        FoundDefect(**{**entry, "cells": texts(entry["cells"]) if "cells" in entry else None})
        for entry in document["defects"]
    )


@dataclass(frozen=True, eq=False)
class Known:
    """A defect that an MPI of a campaign is known to have, in the version that was run.

    Attributes:
        environment: the MPI's name.
        defect: the defect as in the file.
        settings: the settings under which the defect was seen in this version.
        wrong: what goes wrong in this version, in a few words.
    """

    environment: str
    defect: FoundDefect
    settings: Sequence[str]
    wrong: str

    @property
    def is_default(self) -> bool:
        """Tell whether the defect occurs in the default setting, which sets no variable."""
        return DEFAULT in self.settings

    def met(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the MPI's cells that do the same as the defect's C program."""
        return [cell for cell in cells if self.defect.is_met_by(cell, self.settings)]


def known_of(record: Mapping[str, Any], environments: Sequence[str]) -> list[Known]:
    """Return the known defects of a campaign's MPIs, in the order of the MPIs.

    An MPI's defects in the default setting come first. `record` has each MPI's family and version.
    """
    releases = releases_of(record)
    known = [
        Known(name, defect, settings, defect.wrong_in(release))
        for name in environments
        for release in [releases.get(name, UNKNOWN)]
        for defect in every_defect()
        if (settings := defect.settings_of(release))
    ]
    return sorted(known, key=lambda one: (environments.index(one.environment), not one.is_default))


def _here(known: Known, cells: Sequence[Cell]) -> str:
    """Say how many of an MPI's cells should trigger a known defect and how many of these failed."""
    own = known.met(cells)
    failed = sum(cell.verdict in verdicts.FAILURES for cell in own)
    if not own:
        return "no cell here meets this defect"
    return f"{failed} of {numbers.count(len(own), 'cell')} failed here"


def _address(upstream: str) -> str | None:
    thread = _THREAD.search(upstream)
    return f"https://github.com/{thread[1]}/issues/{thread[2]}" if thread else None


def files(every: Sequence[Known]) -> dict[str, str]:
    """Return the defects' texts and programs; the keys are their paths inside a report's folder."""
    defects = [known.defect for known in every]
    names = {f"{defect.text}.md" for defect in defects} | {defect.program for defect in defects}
    sources = {name: project_root() / TEXTS / name for name in sorted(names)}
    return {
        f"{FOLDER}/{name}": path.read_text("utf-8")
        for name, path in sources.items()
        if path.exists()
    }


def table(every: Sequence[Known], run: Mapping[str, Sequence[Cell]]) -> Table:
    """Return the table of known defects, with a table row for each MPI and defect.

    A row has links to the defect's text, to its program and to the public thread about the defect.
    `run` has the cells of the kernel conformance that were run, by MPI.
    """
    carried = files(every)
    links = {path.removeprefix(f"{FOLDER}/"): path for path in carried}
    rows = [
        {
            "environment": known.environment,
            "defect": known.defect.title,
            "text": links.get(f"{known.defect.text}.md"),
            "settings": listed(known.settings, "or"),
            "shows_as": listed(known.defect.shows_as, "or"),
            "here": _here(known, run.get(known.environment, ())),
            "program": known.defect.program,
            "file": links.get(known.defect.program),
            "upstream": known.defect.upstream,
            "thread": _address(known.defect.upstream),
        }
        for known in every
    ]
    return replace(TEXT.table("data_known", rows), files=carried)


@dataclass(frozen=True)
class KnownDefects:
    """The table of known defects: the defects in those MPI versions that a report is about."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table of known defects, or no table if no defect is known."""
        every = known_of(material.campaign.record, material.environments)
        return [table(every, run_by_name(material))] if every else []
