"""The page of conformance: how much was right, what was not, and what failures have in common."""

from onesided.report.data.counts import Counts, Cross
from onesided.report.data.defects import Defects
from onesided.report.data.failures import Failures
from onesided.report.page import ReferencePage

PAGE = ReferencePage(
    identifier="conformance",
    title="Is the data right?",
    lead=(
        "A cell is a call with its datatypes on both sides, in a window and an epoch. Every byte "
        "of all windows and buffers is compared with a model that asks no MPI, where each "
        "completion by itself says that it may be: after the wait of a request, after a "
        "flush_local, after what completes at the target."
    ),
    contents=[
        Failures(
            name="data_failures",
            caption="What failed, by MPI, verdict and call: the fewest axes that tell such cells "
            "from the others that were run; the first of them, with the command that writes a "
            "program which shows it; and whether the defect is known.",
        ),
        Counts(
            name="data_by_axis",
            caption="Cells that were wrong, crashed or hung, of those that were run, by each value "
            "of each axis.",
        ),
        Cross(
            name="data_by_element",
            caption="The same by call and element, over all settings.",
            rows="element",
            columns="call",
        ),
        Defects(
            name="data_defects",
            caption="Defects that upstream knows and cells here probe: do they fail as it says, "
            "in each MPI and as its version is said to? A cell may fail so for another reason.",
        ),
    ],
)
