"""The page of an exchange: the answer, today's rows, the source's tables, and its claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.report.claims import Claim, Claims
from onesided.report.material import Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Folded, Prose
from onesided.report.published import PublishedTable
from onesided.report.words import listed
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today

SOURCE = "LLNL"
SMALL, LARGE = "8", "1000000"
DRAWN = "262144"
"""The largest size of a drawn message that fits the source's numbers."""


def claim(place: str, words: str, test: object) -> Claim:
    """Return a claim on the source's tables, with the table."""
    return Claim(f"{SOURCE}, {place}", words, test)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Then:
    """A table of the source, folded: it is long.

    Attributes:
        table: as printed, by machine.
        words: what a reader opens.
    """

    table: PublishedTable
    words: str

    def parts(self, material: Material) -> list[Folded]:
        """Return it."""
        return [Folded(f"Published: {self.words}", self.table.table())]


@dataclass(frozen=True)
class PerNode:
    """Processes per node: what the source varied, and what today's partitions are."""

    def parts(self, material: Material) -> list[Prose]:
        """Return a sentence."""
        names = list(dict.fromkeys(f"{cell.system}:{cell.partition}" for cell in material.cells))
        if len(names) == 1:
            said = (
                f"Today there is one partition, {names[0]}. A site file declares others by "
                "`ranks_per_node`: packed, spread, or between."
            )
        else:
            said = (
                f"Today's partitions are {listed(names)}, each with columns of its own. How many "
                "ranks a node gets is declared in the site file (`ranks_per_node`)."
            )
        return [Prose("Processes per node", [f"{said} Ranks that find it otherwise say so."])]


def exchange_page(
    kernel: str,
    *,
    title: str,
    lead: str,
    faster: Faster,
    today: Today,
    published: Sequence[Then],
    claims: Sequence[Claim],
    more: Sequence[Content] = (),
) -> ReferencePage:
    """Return the page.

    Args:
        kernel: of the exchange.
        title: of the section.
        lead: what a reader has to know.
        faster: the answer.
        today: today's tables.
        published: the source's.
        claims: computed from its tables.
        more: what else is shown, after today's tables.
    """
    contents: list[Content] = [
        faster,
        today,
        *more,
        PerNode(),
        *published,
        Claims(f"{kernel}_claims", claims),
    ]
    return ReferencePage(kernel.replace("_", "-"), title, lead, contents)
