"""The line by which a cell of a report is run again: what tells the cell from all others."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

COMMAND = "onesided rerun"
USUAL_RESULTS = "quick"
"""The campaign whose results `onesided rerun` looks at first where none are named."""

PARAMETER = " %"
"""What stands before each parameter in ReFrame's name of a test."""


class Declared(Protocol):
    """What of a cell the line needs."""

    system: str
    partition: str
    environment: str
    test: str
    cell: str
    labels: Mapping[str, Any]


def words(test: str) -> tuple[str, ...]:
    """Return the words of a test's name: that of its check, then ``parameter=value``."""
    return tuple(test.split(PARAMETER))


def is_named_by(test: str, asked: str) -> bool:
    """Tell whether words name a test: they are its name, or all of them are in the name."""
    return asked == test or set(asked.split()) <= set(words(test))


def telling(test: str, others: Iterable[str]) -> str | None:
    """Return the words that tell a test from others; None where there is no other.

    The whole name does where a part of it would also name one of the others.
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
    """The lines of a campaign's cells.

    Attributes:
        campaign: its name.
        tests: words that tell a test from those whose cells have the same axes, by the test.
        partitions: whether the cells are of several partitions.
        places: the environment by the name that a page has for it, where that is another.
    """

    campaign: str
    tests: Mapping[str, str | None]
    partitions: bool
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, campaign: str, cells: Iterable[Declared]) -> Lines:
        """Find what the lines of a campaign's cells have to name.

        All cells of a test have the same axes. Cells with other axes have other ids.
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
        return cls(campaign, tests, len(places) > 1)

    def shown_as(self, places: Mapping[str, str]) -> Lines:
        """Return the lines of a page that names environments in another way.

        Args:
            places: the environment by the name that the page has for it.
        """
        return replace(self, places=places)

    def environment_of(self, cell: Declared) -> str:
        """Return the environment of a cell, whatever a page calls the MPI."""
        return self.places.get(cell.environment, cell.environment)

    def line(self, cell: Declared) -> str:
        """Return the command that runs a cell again, for a shell."""
        environment = self.environment_of(cell)
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
    """Return what stands between two apostrophes in a shell for a text."""
    return text.replace("'", "'\"'\"'")
