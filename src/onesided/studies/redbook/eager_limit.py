"""Up to which size does a send return while no receive is posted?"""

from __future__ import annotations

import math

from onesided.cells.experiment import timed
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.claims import NOT_MEASURED, Claims, Found, decided
from onesided.report.material import Material
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.report.ratios import Compared, Within, measures
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.limits import LIMIT, REPORTED, Limits, bytes_words

METRICS = [LIMIT]


ANALYSIS = ReferenceAnalysis(
    [*METRICS, *REPORTED.values()], "a limit is no time, and nobody waits for it"
)


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
RECEIVER = Axis("receiver", "rank 0 is", {"in_mpi": "in MPI", "outside": "outside MPI"})
PUBLISHED_LIMIT, PUBLISHED_TASKS = 4096, 16
"""The source's limit in bytes, and up to how many tasks it has that."""
SENT = {"call": "send", "receiver": "in_mpi"}


def limit(call: str, least: float, most: float = float("inf")) -> Within:
    """Return the test of the limit of a call, while rank 0 is in MPI."""
    return Within(LIMIT.name, {**SENT, "call": call}, least, most, bytes_words)


def less_with_more_tasks(material: Material, environment: str) -> Found:
    """Test the limit with more than `PUBLISHED_TASKS` tasks against that with the fewest."""
    found = measures(material, environment, LIMIT.name, SENT)
    most = max(found, default=0)
    if most <= PUBLISHED_TASKS:
        why = f"at most {numbers.count(most, 'rank')} with a core each" if most else ""
        return Found(NOT_MEASURED, why)
    return decided(found[most], found[min(found)], 0.0, math.nextafter(1.0, 0.0))


PAGE = ReferencePage(
    identifier="eager-limit",
    title="Eager limit",
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
                caption="The largest size in bytes whose call returned before rank 0 received or "
                "came back to MPI, median over launches with its {}. None: no size did.",
                metric=LIMIT.name,
                axes=[CALL, RECEIVER, Axis("flavor", "flavor")],
                show=bytes_words,
                unit="count",
            )
        ),
        PublishedTable("redbook_table9"),
        Claims(
            "eager_limit_claims",
            [
                claim(
                    "3.1.2, Table 9",
                    f"With 1 to {PUBLISHED_TASKS} tasks the limit is {PUBLISHED_LIMIT} bytes.",
                    limit("send", PUBLISHED_LIMIT, PUBLISHED_LIMIT),
                ),
                claim(
                    "3.1.2",
                    "Two processes that both send 4096 bytes first, and then receive, come to an "
                    "end.",
                    limit("send", PUBLISHED_LIMIT),
                ),
                claim(
                    "3.1.2",
                    "The same with 4097 bytes is a deadlock.",
                    limit("send", 0, PUBLISHED_LIMIT),
                ),
                claim(
                    "3.1.2",
                    "A synchronous send returns only once its receive is posted (limit: none).",
                    limit("ssend", 0, 0),
                ),
                claim(
                    "3.1.2",
                    "The sender need not wait for the receiver to take part: the limit is the same "
                    "while it is outside MPI.",
                    Compared(LIMIT.name, {**SENT, "receiver": "outside"}, SENT, 1.0, 1.0),
                ),
                claim(
                    "3.1.2, Table 9",
                    f"With more than {PUBLISHED_TASKS} tasks the limit is less.",
                    less_with_more_tasks,
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Eager limit", 48, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
