"""What does it take when random pairs exchange messages of random sizes?"""

from __future__ import annotations

from onesided.report.cells import axis_of
from onesided.report.claims import AtLeast
from onesided.report.published import PublishedTable
from onesided.studies.llnl import STUDY
from onesided.studies.llnl.growth import ByRanks
from onesided.studies.llnl.map import Maps
from onesided.studies.llnl.page import DRAWN, Then, claim, exchange_page
from onesided.studies.parts.exchanges import BANDWIDTH, TIME, exchange
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today


def _of(sides: str) -> dict[str, str]:
    return {"interface": "asynchronous", "sides": sides, "largest_bytes": DRAWN}


PAGE = exchange_page(
    "some_to_some",
    title="Some-to-some (STS)",
    lead=(
        "Random pairs of ranks exchange messages of random sizes, six a rank on average; "
        "double-sided, each pair is there a second time, reversed. The map is drawn from a seed. "
        "The bandwidth is the mean over all ranks of what they send in a pass, over its time."
    ),
    faster=Faster("some_to_some", "messages up to"),
    today=Today(
        "some_to_some",
        "messages of up to 262144 bytes, which fits the source's numbers.",
        "messages up to, bytes",
        lambda cell: axis_of(cell, "largest_bytes") == DRAWN,
    ),
    published=[
        Then(
            PublishedTable("llnl_sts", form="cards", groups="machine"),
            "by the number of processes, each machine",
        ),
        Then(
            PublishedTable("llnl_sts_per_node", form="cards", groups="machine"),
            "by processes per node",
        ),
        Then(PublishedTable("llnl_summary_sts", form="cards"), "the source's summary"),
    ],
    more=[Maps()],
    claims=[
        claim(
            "STS, 2 processes",
            "A double-sided pass takes at least 1.5 times as long as a single-sided one (2.0 to "
            "3.4 times on the seven machines).",
            AtLeast(TIME.name, _of("double"), _of("single"), factor=1.5),
        ),
        claim(
            "STS",
            "The bandwidth of a process with two processes is more than with four (on the seven "
            "machines).",
            ByRanks(BANDWIDTH, 2, 4, _of("single")),
        ),
    ],
)

EXPERIMENT = exchange(__name__, "Some-to-some (STS)", 32, STUDY, PAGE)
