"""What do several threads that access a window cost against as many processes?"""

from onesided.cells.experiment import Experiment
from onesided.studies.threads import STUDY
from onesided.studies.threads.origin_threads import analysis, page

EXPERIMENT = Experiment(
    kernel="origin_threads",
    title="Origin threads",
    study=STUDY,
    analysis=analysis.ANALYSIS,
    page=page,
    order=3,
    metrics=(analysis.TIME,),
)
