"""What does a message take while other pairs exchange messages at the same time?"""

from __future__ import annotations

from onesided.report.by_cores import ByCores
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import Across, Compared
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import TIME, exchange
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook.sharing import Sharing

SMALL, LARGE = "8", "65536"
SUBSTANTIALLY = 0.5
"""What is substantially smaller than another is at most this share of it."""
NEARLY = 1.25
"""A factor is what the source says within this factor."""
ROUGHLY = 1.5
"""It is approximately so within this one."""
ARRANGEMENT = Axis("arrangement", "pairs of")
PAIRS = Axis("pairs", "pairs", whole=True)
SIZE = Axis("size_bytes", "bytes", whole=True)


def of(arrangement: str, pairs: str, size_bytes: str) -> dict[str, str]:
    """Return the labels of a cell whose messages are sent and received."""
    return {
        "interface": "synchronous",
        "arrangement": arrangement,
        "pairs": pairs,
        "size_bytes": size_bytes,
    }


def of_two_tasks(size_bytes: str, least: float, most: float = float("inf")) -> Across:
    """Return the test of how many times as long each of two pairs of tasks takes as one alone."""
    two, one = (of("processes", pairs, size_bytes) for pairs in ("2", "1"))
    return Across(TIME.name, two, 4, one, 2, least, most)


PAGE = ReferencePage(
    identifier="adapter-sharing",
    title="Adapter sharing",
    lead=(
        "Pairs of processes, or of threads of two processes, send messages to and fro at the same "
        "time. A time is half of a round trip, until the last pair has its answer."
    ),
    contents=[
        Kinds(
            "adapter_sharing",
            TIME.name,
            [ARRANGEMENT, PAIRS, SIZE],
            lambda cell: ONE_SIDED if ways.is_one_sided(cell) else TWO_SIDED,
            ways.way,
            lambda values: (
                f"{values['size_bytes']} bytes, {values['arrangement']} ({values['pairs']})"
            ),
        ),
        Sharing("adapter_sharing_fit", SMALL, LARGE),
        ByCores(
            Pivot(
                name="adapter_sharing",
                caption="Half of a round trip, median over launches with its {}.",
                metric=TIME.name,
                axes=[
                    ARRANGEMENT,
                    PAIRS,
                    SIZE,
                    Axis("interface", "way", ways.WORDS),
                    Axis("flavor", "flavor"),
                ],
            )
        ),
        Claims(
            "adapter_sharing_claims",
            [
                claim(
                    "6.1.3, equation 6.1",
                    "The latency of each is higher when two processors communicate at once (two "
                    "threads, 8 bytes).",
                    Compared(TIME.name, of("threads", "2", SMALL), of("threads", "1", SMALL)),
                ),
                claim(
                    "6.1.3, equation 6.1",
                    "What a second one adds to the latency is substantially smaller than the "
                    "latency (at most half of it; two pairs of tasks, 8 bytes).",
                    of_two_tasks(SMALL, 0.0, 1 + SUBSTANTIALLY),
                ),
                claim(
                    "6.1.3, equation 6.2",
                    "Each of two has half of the bandwidth (1.6 to 2.5 times the time; 65536 "
                    "bytes).",
                    of_two_tasks(LARGE, 2 / NEARLY, 2 * NEARLY),
                ),
                claim(
                    "5.1.1",
                    "With two tasks a node the bandwidth of each is approximately halved (1.33 to "
                    "3 times the time; 65536 bytes).",
                    of_two_tasks(LARGE, 2 / ROUGHLY, 2 * ROUGHLY),
                ),
                claim(
                    "5.1.1",
                    "With several tasks a node the latency of each is higher (8 bytes).",
                    of_two_tasks(SMALL, 1.0),
                ),
            ],
        ),
    ],
)

EXPERIMENT = exchange(__name__, "Adapter sharing", 58, STUDY, PAGE)
