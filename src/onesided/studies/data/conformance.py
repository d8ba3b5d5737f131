"""Do one-sided calls leave the right bytes, with every datatype, operator, window and epoch?"""

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.cells.experiment import Experiment, Metric
from onesided.cells.verdicts import RIGHT, Probe, Verdict
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.page import ReferencePage
from onesided.studies.data import STUDY, answer
from onesided.studies.data.counts import Counts, Cross
from onesided.studies.data.failures import Failures
from onesided.studies.data.known import KnownDefects
from onesided.studies.data.tried import TriedAxes
from onesided.studies.data.upstream import Defects

TIME = Metric("time", "time", "s", over_ranks="max")
"""The time of a round of operations, divided by the number of operations. A round lasts from its
first call until all its operations are complete. No claim uses this time."""


class ConformanceAnalysis(ReferenceAnalysis):
    """The analysis of the bytes; one launch is enough because a byte has only one right value."""

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict `right`; a failure of the cell later replaces this verdict."""
        return Verdict(RIGHT, None, len(probes))


PAGE = ReferencePage(
    identifier="conformance",
    title=STUDY.title,
    answer=answer.headline,
    lead=(
        "A cell is a call with its datatypes on both sides, in a window and an epoch. Every byte "
        "of all windows and buffers is compared with a model that asks no MPI, where each "
        "completion by itself says that it may be: after the wait of a request, after a "
        "flush_local, after what completes at the target."
    ),
    contents=[
        Failures(),
        KnownDefects(),
        TriedAxes(),
        Counts(
            name="data_by_axis",
            caption="Cells that were wrong, crashed or hung (✗), of those that were run, by each "
            "value of each axis. A value without a row was not tried.",
            caption_right="Cells that were run, by each value of each axis; in all of them every "
            "byte was right. A value without a row was not tried.",
        ),
        Cross(
            name="data_by_element",
            caption="The same by call and element, over all settings.",
            rows="element",
            columns="call",
        ),
        Defects(),
    ],
)

EXPERIMENT = Experiment(
    kernel="conformance",
    title=STUDY.title,
    study=STUDY,
    analysis=ConformanceAnalysis([TIME], "every byte was compared"),
    page=PAGE,
    metrics=(TIME,),
    order=70,
)
