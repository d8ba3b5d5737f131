"""How long do ranks take to write, or to read, a cube together?"""

from onesided.experiments.experiment import timed
from onesided.experiments.files import TIME
from onesided.experiments.studies import REDBOOK_THREADS

EXPERIMENT = timed(
    __name__,
    "Parallel input and output",
    order=70,
    study=REDBOOK_THREADS,
    time=TIME,
    analysis="onesided.analysis.files",
)
