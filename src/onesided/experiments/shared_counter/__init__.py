"""How long does a process wait for the next number while its target computes?"""

from onesided.experiments.experiment import LATENCY_KINDS, Experiment, FigureOfMerit
from onesided.experiments.metric import Metric
from onesided.experiments.studies import STFC

EXPERIMENT = Experiment(
    kernel="shared_counter",
    title="The shared counter",
    study=STFC,
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    order=2,
    metrics=(Metric("access", "access", "s", origins=True),),
    # The source's second figure of merit. A mean access, or its ratio to a compute, is a mixture of
    # accesses that waited and accesses that did not, whose shares differ from launch to launch.
    merit=FigureOfMerit("degradation", "rank_1", pooled=("compute_ms", "spread_percent")),
    access="access",
    kinds=LATENCY_KINDS,
)
