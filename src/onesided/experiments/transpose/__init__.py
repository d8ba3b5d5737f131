"""What does a two-dimensional Fourier transform take, by how its matrix is transposed?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

TIME = Metric("time", "time", "s")
"""The whole transform: the mean of all ranks, as its parts, so that these add up to it."""

COMMUNICATION = Metric("communication", "communication", "s")
"""The exchange of blocks between ranks."""

LOCAL = Metric("local", "local", "s")
"""The transposition of blocks that MPI did not transpose."""

FOURIER = Metric("fourier", "fourier", "s")
"""The transforms of columns, before and after the exchange, with the barrier before it."""

EXPERIMENT = timed(
    __name__, "Transpose", order=55, study=REDBOOK, time=TIME, more=[COMMUNICATION, LOCAL, FOURIER]
)
