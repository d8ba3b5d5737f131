"""What does it cost if two processes send each other a message at the same time?"""

from onesided.environments.settings import DEFAULT
from onesided.report.claims import published_experiment
from onesided.report.published import PublishedTable
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import ANALYSIS, TIME
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today, by_size
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.limits import AroundLimit

SMALL, LARGE = "8", "1048576"

EXPERIMENT = published_experiment(
    __name__,
    "Two-way exchange",
    50,
    study=STUDY,
    analysis=ANALYSIS,
    lead=(
        "Two processes send each other a message at once. A time is half of an exchange, as in the "
        "source, and the bandwidth is that of both directions together. Above an eager limit a "
        "message waits for its receive; each MPI's own limit is found in the launch."
    ),
    contents=[
        Faster("two_way_exchange", "message"),
        AroundLimit("two_way_exchange_limit", TIME.name, ways.way),
        Today(
            "two_way_exchange",
            "8 bytes for the latency, 1 MiB for the bandwidth.",
            "bytes",
            lambda cell: cell.axis("size_bytes") in (SMALL, LARGE),
        ),
        by_size(
            "two_way_exchange",
            "Half of an exchange by size",
            "half of an exchange",
            "the redbook's Figure 8",
            lambda cell: cell.setting == DEFAULT,
        ),
        PublishedTable(
            "redbook_table4", "cards", folded="Table 4, programs with and without shared memory"
        ),
    ],
)
