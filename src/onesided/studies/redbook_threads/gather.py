"""What does each way to get scattered elements from another rank cost?"""

from onesided.cells.experiment import Metric
from onesided.report import numbers
from onesided.report.pivot import Axis
from onesided.report.published import PublishedTable
from onesided.studies.redbook_threads.served import SERVED, served_experiment

TIME = Metric("time", "time", "s", origins=True)
"""The time until all elements of a gather are at the origin: the mean over a burst."""

WAY = Axis(
    "way",
    "the elements come by",
    {
        "gets": "a get each, one flush",
        "rgets": "MPI_Rget each, MPI_Waitall",
        "get_indexed": "one get, type made before",
        "get_new_type": "one get, type made each time",
        **{way: f"{words}, packed" for way, words in SERVED.items()},
        "target_serves": "rank 0, packed in its own calls",
    },
)

EXPERIMENT = served_experiment(
    __name__,
    "Gather",
    61,
    lead=(
        "Elements of eight bytes are scattered in the memory of rank 0. Another rank wants them "
        "side by side: by a get each, by one get whose type says where they are, or from a server "
        "that gets their addresses, packs them and sends them back."
    ),
    time=TIME,
    what="a gather",
    until=" until all elements are at its origin",
    way=WAY,
    kinds={
        "gets": "a get each",
        "rgets": "a get each",
        "get_indexed": "one get of a type",
        "get_new_type": "one get of a type",
    },
    server="packed by a server",
    x=Axis("elements", "elements", whole=True),
    point=lambda elements: numbers.count(elements, "element"),
    waits="Rank 0 computes; each other rank gathers once.",
    before=[PublishedTable("redbook_gather")],
)
