"""Does a one-sided operation complete while its target computes?"""

from onesided.cells.experiment import Experiment, FigureOfMerit, Metric
from onesided.studies.stfc import STUDY
from onesided.studies.stfc.progress import analysis, answer, latency, probe, truth, use, waiting
from onesided.studies.stfc.ways import AnswerPage

EXPERIMENT = Experiment(
    kernel="progress",
    title="Progress",
    study=STUDY,
    analysis=analysis,
    page=AnswerPage(
        answer.headline,
        [probe.section, waiting.section, latency.section],
        answer.way_rows,
        whole=[truth.section, use.section],
    ),
    order=1,
    metrics=(
        Metric("elapsed", "elapsed", "s", origins=True),
        Metric("latency", "latency", "s", origins=True),
    ),
    # While the target computes, some accesses wait and some do not, so the times of launches differ
    # by a factor of up to 30. The verdict says whether accesses wait. Therefore only the latency is
    # compared, and only the latency has a bound in a site's references.
    merit=FigureOfMerit(
        "latency", "median", pooled=("target_state", "probe_interval_us"), held=True
    ),
    access="elapsed",
    applies={"probe_interval_us": ("target_state", ("computes_probing",))},
)
