"""How long does a process wait for a shared counter's next number while its target computes?"""

from onesided.cells.experiment import Experiment, FigureOfMerit, Metric
from onesided.studies.stfc import STUDY
from onesided.studies.stfc.shared_counter import analysis, answer, figures, tables
from onesided.studies.stfc.shared_counter.cells import way_rows
from onesided.studies.stfc.ways import AnswerPage

EXPERIMENT = Experiment(
    kernel="shared_counter",
    title="The shared counter",
    study=STUDY,
    analysis=analysis,
    page=AnswerPage(
        answer.headline,
        [
            tables.table1,
            figures.figure1,
            figures.probe_section,
            tables.contenders,
            tables.degradation,
            tables.solution,
            tables.latency,
            tables.ClaimsSection(STUDY.name, "shared_counter"),
        ],
        way_rows,
    ),
    order=2,
    metrics=(Metric("access", "access", "s", origins=True),),
    # The 2008 report's second figure of merit. A mean access, or its ratio to a compute, mixes
    # accesses that waited and accesses that did not. The shares of both differ between launches.
    merit=FigureOfMerit("degradation", "rank_1", pooled=("compute_ms", "spread_percent")),
    access="access",
)
