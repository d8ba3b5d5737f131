"""Does a one-sided operation complete while its target computes?"""

from onesided.experiments.experiment import PRICE_KINDS, Experiment, FigureOfMerit
from onesided.experiments.studies import STFC

EXPERIMENT = Experiment(
    kernel="progress",
    title="Progress",
    study=STFC,
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    order=1,
    merit=FigureOfMerit("price", "median", pooled=("target_state", "probe_interval_us")),
    access="elapsed",
    kinds=PRICE_KINDS,
)
