"""How long does it take until each rank has sent a block of data to every rank?"""

from onesided.studies.llnl.exchange import (
    LARGE,
    SMALL,
    ByProcesses,
    exchange,
    published_by_ranks,
)
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today

SAME = "alltoall_same_buffers"

EXPERIMENT = exchange(
    __name__,
    "Swapped all-to-all (ATA)",
    31,
    lead=(
        "Each rank sends a block to every rank, and the two buffers change their roles from call "
        "to call. The bandwidth counts the blocks that go to other ranks; LLNL's report prints "
        "neither its formula nor its size."
    ),
    faster=Faster("swapped_all_to_all", "block", left_out=(SAME,)),
    today=Today(
        "swapped_all_to_all",
        "blocks of 8 bytes for the latency, of 1 MB for the bandwidth.",
        "bytes",
        lambda cell: cell.axis("size_bytes") in (SMALL, LARGE),
    ),
    own={"interface": "alltoall"},
    same=SAME,
    published=[published_by_ranks("ata")],
    by_ranks=ByProcesses("ata", ["bandwidth"], ["latency_ms"], LARGE),
)
