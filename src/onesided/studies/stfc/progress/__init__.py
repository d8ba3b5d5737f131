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
    # The time of an access beside a computing target is a mixture: some accesses waited, some did
    # not. Launches differ by a factor of up to 30. The verdict says that the access waits; the
    # latency has a bound.
    merit=FigureOfMerit(
        "latency", "median", pooled=("target_state", "probe_interval_us"), held=True
    ),
    access="elapsed",
    applies={"probe_interval_us": ("target_state", ("computes_probing",))},
)
