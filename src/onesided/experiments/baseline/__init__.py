"""What does this machine need for what one-sided communication is made of?"""

from onesided.experiments.experiment import Experiment
from onesided.experiments.metric import Metric
from onesided.experiments.studies import MACHINE

EXPERIMENT = Experiment(
    kernel="baseline",
    title="Hardware baseline",
    study=MACHINE,
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    metrics=(Metric("time", "time", "s"),),
    is_baseline=True,
    order=1000,  # what others are compared with comes last
)
