"""What do several threads that access a window cost against as many processes?"""

from onesided.experiments.experiment import Experiment
from onesided.experiments.metric import Metric
from onesided.experiments.studies import THREADS

EXPERIMENT = Experiment(
    kernel="origin_threads",
    title="Origin threads",
    study=THREADS,
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    order=3,
    metrics=(Metric("time", "operation_time", "s"),),
)
