"""How long does a rank take to read from a file that another rank has?"""

from onesided.experiments.experiment import timed
from onesided.experiments.files import TIME
from onesided.experiments.studies import REDBOOK_THREADS

EXPERIMENT = timed(
    __name__,
    "Remote read",
    order=62,
    study=REDBOOK_THREADS,
    time=TIME,
    analysis="onesided.analysis.files",
)
