"""What does it take when each rank sends a block to every rank?"""

from __future__ import annotations

from onesided.report.cells import axis_of
from onesided.report.published import PublishedTable
from onesided.studies.llnl import STUDY
from onesided.studies.llnl.growth import ByRanks
from onesided.studies.llnl.page import LARGE, SMALL, Then, claim, exchange_page
from onesided.studies.parts.exchanges import BANDWIDTH, TIME, exchange
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today

CALL = {"interface": "alltoall"}

PAGE = exchange_page(
    "swapped_all_to_all",
    title="Swapped all-to-all (ATA)",
    lead=(
        "Each rank sends a block to every rank, and the two buffers change their roles from call "
        "to call. The bandwidth counts the blocks that go to other ranks; the source prints "
        "neither its formula nor its size."
    ),
    faster=Faster("swapped_all_to_all", "block"),
    today=Today(
        "swapped_all_to_all",
        "blocks of 8 bytes for the latency, of 1 MB for the bandwidth.",
        "bytes",
        lambda cell: axis_of(cell, "size_bytes") in (SMALL, LARGE),
    ),
    published=[
        Then(
            PublishedTable("llnl_ata", form="cards", groups="machine"),
            "by the number of processes, each machine",
        ),
        Then(
            PublishedTable("llnl_ata_per_node", form="cards", groups="machine"),
            "by processes per node",
        ),
        Then(PublishedTable("llnl_summary_ata", form="cards"), "the source's summary"),
    ],
    claims=[
        claim(
            "ATA",
            "The bandwidth of a process with two processes is more than with four (on all eight "
            "machines).",
            ByRanks(BANDWIDTH, 2, 4, {**CALL, "size_bytes": "32768"}),
        ),
        claim(
            "ATA",
            "The latency with four processes is more than with two (on all eight machines).",
            ByRanks(TIME.name, 4, 2, {**CALL, "size_bytes": SMALL}),
        ),
    ],
)

EXPERIMENT = exchange(__name__, "Swapped all-to-all (ATA)", 31, STUDY, PAGE)
