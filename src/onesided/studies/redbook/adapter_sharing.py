"""What does a message cost while other pairs exchange messages?"""

from onesided.report.by_cores import ByCores
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import ANALYSIS, TIME
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook.sharing import Sharing

SMALL, LARGE = "8", "65536"
ARRANGEMENT = Axis("arrangement", "pairs of")
PAIRS = Axis("pairs", "pairs", whole=True)

EXPERIMENT = published_experiment(
    __name__,
    "Adapter sharing",
    58,
    study=STUDY,
    analysis=ANALYSIS,
    lead=(
        "Pairs of processes, or of threads of two processes, send messages to and fro at the same "
        "time. A time is half of a round trip, until the last pair has its answer."
    ),
    contents=[
        Kinds(
            "adapter_sharing",
            TIME.name,
            [ARRANGEMENT, PAIRS, SIZE],
            ways.way,
            point=lambda values: (
                f"{values['size_bytes']} bytes, {values['arrangement']} ({values['pairs']})"
            ),
        ),
        Sharing("adapter_sharing_fit", SMALL, LARGE),
        ByCores(
            Pivot(
                name="adapter_sharing",
                caption="Half of a round trip, median over launches with its {}.",
                metric=TIME.name,
                axes=[
                    ARRANGEMENT,
                    PAIRS,
                    SIZE,
                    Axis("interface", "way", ways.WORDS),
                    FLAVOR,
                ],
            )
        ),
    ],
)
