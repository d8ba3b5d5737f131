"""Up to which size, and how many times, does a send return before its receive is posted?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.cells import Values, apart, grouped, value_or_word
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedSeries, PublishedTable
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.limits import LIMIT, REPORTED, Limits, no_limit

CALL = Axis(
    "call",
    "call",
    {
        "send": "MPI_Send",
        "ssend": "MPI_Ssend",
        "put_flush_local": "MPI_Put, MPI_Win_flush_local",
        "put_flush": "MPI_Put, MPI_Win_flush",
    },
)
TABLE9 = PublishedTable("redbook_table9")
MOST_TASKS = {"1—16": 16, "17—32": 32, "33—64": 64, "65—128": 128}
"""For each row of the Redbook's Table 9: the largest number of tasks for which the row holds."""

RECEIVER = Axis("receiver", "rank 0 is", {"in_mpi": "in MPI", "outside": "outside MPI"})

UNANSWERED = Metric("unanswered", "unanswered", "count", better="higher")
"""How many sends returned while no receive was posted; each message has the size of the eager
limit."""

UNANSWERED_BYTES = Metric("unanswered_bytes", "unanswered_bytes", "count", better="higher")
"""The total number of bytes in the messages that `UNANSWERED` counts."""

WAITED = Metric("unanswered_waited", "unanswered_waited", "flag")
"""The value is 1 if a send waited for its receive after the sends that `UNANSWERED` counts, and 0
if the kernel reached its maximum number of messages before a send waited."""

A_SEND_WAITS, ALL_SENT = "a send waits", "all that were tried"


def _sends(material: Material) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of MPI_Send; the key is the MPI with its setting, and the receiver's state.

    Cells with more ranks than cores are included.
    """
    sends = [cell for cell in material.cells if cell.has({"call": "send"})]

    return grouped(sends, lambda cell: (cell.mpi, RECEIVER.words_of(cell)))


@dataclass(frozen=True)
class LimitsByRanks:
    """A table of MPI_Send's eager limit for each number of ranks, as in the Redbook's Table 9."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or nothing if no send was measured."""
        material = apart(material)
        rows = []
        sends = _sends(material)
        for (name, receiver), cells in sends.items():
            row: dict[str, Any] = {"environment": name, "receiver": receiver}
            for cell in cells:
                limit = value_or_word(material, cell, LIMIT.name, "median")
                row.setdefault(f"ranks_{cell.ranks}", limit)
                row.setdefault(f"note_{cell.ranks}", no_limit(material, cell, limit))
            rows.append(row)
        if not rows:
            return []
        numbers_of_ranks = sorted({cell.ranks for own in sends.values() for cell in own})
        columns = [
            Column("environment", "MPI", header=True),
            Column(RECEIVER.name, RECEIVER.title),
            *(
                Column(
                    *(f"ranks_{n}", f"{n} ranks", numbers.exact_bytes, True),
                    unit="count",
                    note=f"note_{n}",
                )
                for n in numbers_of_ranks
            ),
        ]
        caption = (
            "The limit of MPI_Send in bytes by the number of ranks, median over launches with its "
            f"{material.interval_words}; the redbook's is in Table 9. Also with more ranks than "
            "cores: a limit is no time."
        )
        return [Table("eager_limit_ranks", caption, columns, rows, form="cards")]


@dataclass(frozen=True)
class Unanswered:
    """A table of how many messages of the eager limit's size are sent before a send waits."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or nothing if no launch sent messages of the eager limit's size."""
        material = apart(material)
        rows = list(self._rows(material))
        if not rows:
            return []
        columns = [
            Column("environment", "MPI", header=True),
            Column(RECEIVER.name, RECEIVER.title),
            Column("ranks", "ranks", str),
            Column("messages", "messages", numbers.exact_bytes, measure=True, unit="count"),
            Column("bytes", "bytes", numbers.exact_bytes, measure=True, unit="count"),
            Column("then", "and then"),
        ]
        caption = (
            "How many sends of the limit's size, at most of 65536 bytes, return one after another "
            "with no receive posted, and the bytes of these messages; median over launches with "
            f"its {material.interval_words}. As many as the library's buffers for early messages "
            "have room for (the redbook's MP_BUFFER_MEM), or as many as were tried."
        )
        return [Table("eager_limit_unanswered", caption, columns, rows, form="cards")]

    def _rows(self, material: Material) -> Iterable[dict[str, Any]]:
        messages, whole, waited = (
            Values(material, metric.name) for metric in (UNANSWERED, UNANSWERED_BYTES, WAITED)
        )
        for (name, receiver), cells in _sends(material).items():
            for cell in cells:
                ends = waited.of(cell)
                if ends is not None:
                    yield {
                        "environment": name,
                        "receiver": receiver,
                        "ranks": cell.ranks,
                        "messages": messages.of(cell),
                        "bytes": whole.of(cell),
                        "then": A_SEND_WAITS if ends.value > 0 else ALL_SENT,
                    }


EXPERIMENT = published_experiment(
    __name__,
    "Eager limit",
    48,
    study=STUDY,
    metrics=[LIMIT],
    analysis=ReferenceAnalysis(
        [LIMIT, UNANSWERED, UNANSWERED_BYTES, WAITED, *REPORTED.values()],
        "a limit is no time, and nobody waits for it",
    ),
    lead=(
        "Two processes that both send before they receive wait for each other for ever where a "
        "send needs its receive. Here rank 0 receives late, and sees whether the call of rank 1 "
        "has returned before. Rank 0 is in MPI meanwhile, as in a send of its own, or outside. A "
        "put needs no receive: which of them return tells whether it needs the target at all."
    ),
    contents=[
        Limits(),
        ByCores(
            Pivot(
                name="eager_limit",
                caption="The largest size in bytes for which the call returned before rank 0 "
                "received or came back to MPI; none if no call did; the largest size that is tried "
                "has no limit above it. Median over launches with its {}.",
                metric=LIMIT.name,
                axes=[CALL, RECEIVER, FLAVOR],
                show=numbers.exact_bytes,
                unit="count",
            )
        ),
        LimitsByRanks(),
        TABLE9,
        Unanswered(),
        PublishedTable("redbook_buffer_limits"),
    ],
    published=[PublishedSeries(TABLE9, "tasks", ["limit_bytes"], places=MOST_TASKS)],
)
