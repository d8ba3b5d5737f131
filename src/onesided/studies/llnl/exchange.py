"""Make the experiment of an exchange, with a page that includes the source's tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.cells.experiment import Experiment
from onesided.report.claims import Claims
from onesided.report.material import Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Prose
from onesided.report.published import PublishedTable
from onesided.report.words import listed
from onesided.studies.llnl import STUDY
from onesided.studies.parts import exchanges
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today

SMALL, LARGE = "8", "1000000"
DRAWN = "262144"
"""The upper limit of random message sizes, in bytes, that agrees with the source's numbers."""


SUMMARY = "the source's summary"


def published_by_ranks(name: str) -> list[PublishedTable]:
    """Return the source's tables: by processes, by processes per node, and the summary."""
    by_ranks, per_node = "by the number of processes, each machine", "by processes per node"
    return [
        PublishedTable(f"llnl_{name}", "cards", "machine", by_ranks),
        PublishedTable(f"llnl_{name}_per_node", "cards", "machine", per_node),
        PublishedTable(f"llnl_summary_{name}", "cards", folded=SUMMARY),
    ]


@dataclass(frozen=True)
class PerNode:
    """A sentence about processes per node in today's partitions."""

    def parts(self, material: Material) -> list[Prose]:
        """Return the sentence."""
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
        return [
            Prose(
                "Processes per node",
                [f"{said} If the ranks find another number, the report says so."],
            )
        ]


def exchange(
    module: str,
    title: str,
    order: int,
    *,
    lead: str,
    faster: Faster,
    today: Today,
    published: Sequence[PublishedTable],
    more: Sequence[Content] = (),
) -> Experiment:
    """Return the experiment of an exchange.

    Args:
        module: the full name of the experiment's module; the last part is the kernel's name.
        title: the title of the experiment and its section.
        order: the place in a report; the least number comes first.
        lead: the first sentences of the page: what a reader has to know.
        faster: the answer to the question which side is faster.
        today: today's tables.
        published: the source's tables.
        more: parts of the page to show after today's tables.
    """
    kernel = module.rpartition(".")[2]
    contents = [faster, today, *more, PerNode(), *published, Claims(STUDY.name, kernel)]
    page = ReferencePage(kernel.replace("_", "-"), title, lead, contents)
    return exchanges.exchange(module, title, order, STUDY, page)
