"""Make the command line that runs a report's cell again, and find the cell of such a line.

This module installs and launches nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from onesided.campaign.tables import record_of
from onesided.environments import declarations, site_mpi
from onesided.measure.cell_verdicts import read_verdicts
from onesided.system import paths
from onesided.system.errors import InputError

COMMAND = "onesided rerun"
REFRAME = "reframe -C SITE.py -c reframe_checks -R"
"""The ReFrame command that runs a test again; ``SITE.py`` is the site's own configuration."""

USUAL_RESULTS = "quick"
"""The campaign whose results `onesided rerun` reads first, if the user names no campaign."""

PARAMETER = " %"
"""The text before each parameter in ReFrame's name of a test."""

VERDICTS = "verdicts.json"
MOST_NAMED = 4
"""An error message names at most this many tests or partitions, and counts the others."""

Entry = Mapping[str, Any]


class Declared(Protocol):
    """The attributes of a cell that a command line needs."""

    system: str
    partition: str
    environment: str
    test: str
    cell: str
    labels: Mapping[str, Any]


def words(test: str) -> tuple[str, ...]:
    """Return the words of a test's name: the name of the check, then each ``parameter=value``."""
    return tuple(test.split(PARAMETER))


def is_named_by(test: str, asked: str) -> bool:
    """Tell whether a text names a test: the text is the test's name, or has only words of it."""
    return asked == test or set(asked.split()) <= set(words(test))


def telling(test: str, others: Iterable[str]) -> str | None:
    """Return the words that distinguish a test's name from other names; None if there are none.

    If another test's name also has all these words, the result is the test's whole name.
    """
    others = [other for other in others if other != test]
    if not others:
        return None
    found = [word for word in words(test) if any(word not in words(one) for one in others)]
    asked = " ".join(found)
    is_clear = asked.split() == found and not any(is_named_by(one, asked) for one in others)
    return asked if is_clear else test


@dataclass(frozen=True)
class Lines:
    """Makes command lines that run cells of a campaign again.

    Attributes:
        campaign: the name of the campaign.
        tests: for each test, the words that distinguish it from tests with the same axes.
        partitions: whether lines must name the partition, because cells are of several partitions.
        places: the environment for each name on a page that differs from the campaign's name.
        of_sites: the environments of a site's own ReFrame, which runs the whole test again.
    """

    campaign: str
    tests: Mapping[str, str | None]
    partitions: bool
    places: Mapping[str, str] = field(default_factory=dict)
    of_sites: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, campaign: str, cells: Iterable[Declared], environments: Iterable[Entry] = ()
    ) -> Lines:
        """Find out what a command line must name to identify each cell of a campaign.

        All cells of a test have the same axes. Two cells with different axes never have the same
        id.
        """
        axes: dict[str, tuple[str, ...]] = {}
        places = set()
        for cell in cells:
            places.add((cell.system, cell.partition))
            if cell.test not in axes:
                axes[cell.test] = tuple(cell.labels)
        alike: dict[tuple[str, ...], list[str]] = {}
        for test, own in axes.items():
            alike.setdefault(own, []).append(test)
        tests = {test: telling(test, alike[own]) for test, own in axes.items()}
        own = [one["name"] for one in environments if one.get("provider") == site_mpi.PROVIDER]
        return cls(campaign, tests, len(places) > 1, of_sites=frozenset(own))

    def shown_as(self, places: Mapping[str, str]) -> Lines:
        """Return command lines for a page that gives environments other names than the campaign.

        `places` maps each environment's name on the page to the campaign's name of the environment.
        """
        return replace(self, places=places)

    def environment_of(self, cell: Declared) -> str:
        """Return the environment of a cell, whose name on a page may differ."""
        return self.places.get(cell.environment, cell.environment)

    def line(self, cell: Declared) -> str:
        """Return the shell command that runs a cell again."""
        environment = self.environment_of(cell)
        if environment in self.of_sites:
            name = f"^{re.escape(cell.test.replace(' ', ''))}$"
            words = [f"--system={cell.system}:{cell.partition}", "-p", environment, "-n", name]
            return f"{REFRAME} {shlex.join(words)} -r"
        options = {
            "--test": self.tests.get(cell.test, cell.test),
            "--partition": f"{cell.system}:{cell.partition}" if self.partitions else None,
            "--results": self.campaign if self.campaign != USUAL_RESULTS else None,
        }
        named = [word for name, value in options.items() if value for word in (name, value)]
        return f"{COMMAND} {shlex.quote(environment)} '{_quoted(cell.cell)}'" + "".join(
            f" {shlex.quote(word)}" for word in named
        )


def _quoted(text: str) -> str:
    """Return a text with its apostrophes replaced, for use between apostrophes in a shell."""
    return text.replace("'", "'\"'\"'")


@dataclass(frozen=True)
class Asked:
    """The words with which a user names a cell of a report.

    Attributes:
        environment: the name of a declared environment.
        cell: the id of the cell.
        test: words of the test's name; None if only one test has the cell.
        partition: ``system:partition``; None if the cell was run on only one partition.
    """

    environment: str
    cell: str
    test: str | None = None
    partition: str | None = None

    def is_entry(self, entry: Entry) -> bool:
        """Tell whether an entry of verdicts.json is of the cell that the user asks for."""
        return (
            entry["cell"] == self.cell
            and entry["environment"] == self.environment
            and (self.test is None or is_named_by(entry["test"], self.test))
            and self.partition in (None, _partition(entry))
        )


@dataclass(frozen=True)
class Found:
    """A cell that was found in the results of a campaign.

    Attributes:
        folder: the folder of the results.
        record: the content of campaign.json.
        entry: the entry of the cell in verdicts.json.
    """

    folder: Path
    record: Mapping[str, Any]
    entry: Entry

    @property
    def partition(self) -> str:
        """Return the partition on which the cell was run, as ``system:partition``."""
        return _partition(self.entry)


def _partition(entry: Entry) -> str:
    return f"{entry['system']}:{entry['partition']}"


def find(asked: Asked, results: str | None = None) -> Found:
    """Find the cell that the user asks for in the results of campaigns.

    `results` is a campaign's folder or name. By default, the results of the campaign quick are used
    if they have the cell, else the newest results that have the cell.

    Raises:
        InputError: there is no such environment, results or cell, or several cells fit.
    """
    declarations.select([asked.environment])
    if results is not None:
        return _only(_folder(results), asked)
    for folder in _folders():
        if any(map(asked.is_entry, _entries(folder))):
            return _only(folder, asked)
    raise InputError(
        paths.results_dir(),
        None,
        f"no results with {asked.environment} {asked.cell}",
        "a cell of a report: its row under `Every cell` has the line",
    )


def _folder(results: str) -> Path:
    """Return a campaign's folder from its path or its name."""
    named = paths.results_dir() / results
    folder = named if paths.is_name(results) and named.is_dir() else Path(results)
    if (folder / VERDICTS).is_file():
        return folder
    known = ", ".join(sorted(path.parent.name for path in _written())) or "none yet"
    raise InputError("--results", None, results, f"a folder of results, or one of: {known}")


def _written() -> list[Path]:
    return list(paths.results_dir().glob(f"*/{VERDICTS}"))


def _folders() -> Iterator[Path]:
    """Yield campaigns' folders of results: first `USUAL_RESULTS`, then all others, newest first."""
    yield from (path.parent for path in sorted(_written(), key=_rank))


def _rank(verdicts: Path) -> tuple[bool, float]:
    return verdicts.parent.name != USUAL_RESULTS, -verdicts.stat().st_mtime


def _entries(folder: Path) -> list[Entry]:
    return read_verdicts(folder / VERDICTS)


def _only(folder: Path, asked: Asked) -> Found:
    """Return the only cell in a folder of results that fits what the user asks for.

    Raises:
        InputError: no cell fits, or several cells fit; the message names how they differ.
    """
    own = [entry for entry in _entries(folder) if entry["cell"] == asked.cell]
    found = [entry for entry in own if asked.is_entry(entry)]
    if len(found) == 1:
        return Found(folder, record_of(folder), found[0])
    if not own:
        expected = "a cell of the report: its row under `Every cell` has the line"
        raise InputError(folder, "cell", asked.cell, expected)
    of_environment = [entry for entry in own if entry["environment"] == asked.environment]
    if not of_environment:
        known = dict.fromkeys(entry["environment"] for entry in own)
        expected = f"an environment with this cell: {', '.join(known)}"
        raise InputError(folder, "environment", asked.environment, expected)
    several = found or of_environment
    tests = list(dict.fromkeys(entry["test"] for entry in several))
    if len(tests) > 1 or (asked.test and not found):
        known = [telling(test, tests) or test for test in tests]
        raise _not_one("--test", asked.test, "tests", known)
    partitions = list(dict.fromkeys(map(_partition, several)))
    if len(partitions) > 1 or not found:
        raise _not_one("--partition", asked.partition, "partitions", partitions)
    raise InputError(folder / VERDICTS, "cells", f"{asked.cell} twice", "each cell once")


def _not_one(option: str, value: str | None, what: str, known: Sequence[str]) -> InputError:
    """Return the error for an option whose value fits no cell, or fits cells of several tests."""
    listed = ", ".join(map(repr, known[:MOST_NAMED]))
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    found = repr(value) if value else f"{len(known)} {what} with the cell"
    return InputError(option, None, found, f"one of {listed}{more}")
