"""Are the bytes right, by call, datatype, operator, window and epoch?"""

from onesided.experiments.experiment import Experiment
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DATA

TIME = Metric("time", "time", "s", over_ranks="max")
"""From the first call of a round to its completion, an operation: nothing is concluded from it."""

EXPERIMENT = Experiment(
    kernel="conformance",
    title="Is the data right?",
    study=DATA,
    analysis_module=f"{__name__}.analysis",
    page_module=f"{__name__}.page",
    metrics=(TIME,),
    order=70,
)
