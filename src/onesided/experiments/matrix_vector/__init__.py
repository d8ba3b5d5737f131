"""A product of matrix and vector: should there be more tasks, or more threads of each?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK_THREADS

TOTAL = Metric("total", "total", "s", "max")
"""A product, by the slowest task."""

REDUCE_SCATTER = Metric("reduce_scatter", "reduce_scatter", "s", "max")
"""MPI_Reduce_scatter_block in it, by the task that waits the longest."""

EXPERIMENT = timed(
    __name__,
    "Matrix and vector",
    order=65,
    study=REDBOOK_THREADS,
    time=TOTAL,
    more=[REDUCE_SCATTER],
)
