"""What do several threads that access a window cost against as many processes?"""

from onesided.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    kernel="origin_threads",
    title="Origin threads",
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    order=3,
)
