"""How long does a message of a given size between two processes take?"""

from onesided.report.published import PublishedTable
from onesided.studies.llnl.curve import Curve
from onesided.studies.llnl.exchange import LARGE, SMALL, SUMMARY, exchange
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today

SIZES = PublishedTable(
    "llnl_lbw_sizes", form="cards", groups="machine", folded="bandwidth by size, each machine"
)
DRAWN = ("synchronous", "put_lock_all", "get_lock_all")
SAME = "synchronous_same_buffers"


EXPERIMENT = exchange(
    __name__,
    "Latency and bandwidth (LBW)",
    30,
    lead=(
        "Two processes send each other a message in turn; a time is half of a round trip. In the "
        "asynchronous style (posted receives) both messages are under way at once, so it is in no "
        "comparison."
    ),
    faster=Faster("latency_bandwidth", "message", left_out=("asynchronous", SAME)),
    today=Today(
        "latency_bandwidth",
        "8 bytes for the latency, 1 MB for the bandwidth.",
        "bytes",
        lambda cell: cell.axis("size_bytes") in (SMALL, LARGE),
    ),
    own={"interface": "synchronous"},
    same=SAME,
    published=[
        PublishedTable(
            "llnl_machines", form="cards", folded="the eight machines, and how they ran"
        ),
        PublishedTable("llnl_lbw", form="cards", folded="latency and bandwidth of eight machines"),
        SIZES,
        PublishedTable("llnl_summary_lbw", form="cards", folded=SUMMARY),
    ],
    more=[Curve("latency_bandwidth_curve", SIZES, DRAWN)],
)
