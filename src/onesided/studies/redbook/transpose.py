"""What does a two-dimensional Fourier transform cost with each way to transpose its matrix?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.by_cores import ByCores, Fold
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.studies.parts.ways import is_one_sided
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import Kinds

TIME = Metric("time", "time", "s")
"""The time of the whole transform. All times here are means over all ranks, so that the times of
the parts add up to the whole time."""

COMMUNICATION = Metric("communication", "communication", "s")
"""The time in which ranks exchange blocks of the matrix."""

LOCAL = Metric("local", "local", "s")
"""The time in which ranks transpose the blocks that MPI did not transpose."""

FOURIER = Metric("fourier", "fourier", "s")
"""The time of the Fourier transforms of columns, before and after the exchange of blocks. This
value includes the time of the barrier before the exchange."""

WAY = Axis(
    "interface",
    "how",
    {
        "bsend_columns": "bsend, no data types",
        "bsend_block": "bsend, column type",
        "bsend_barrier": "bsend, column type, barriers",
        "bsend_column_row": "bsend, column/row",
        "bsend_row_column": "bsend, row/column",
        "bsend_1d_column_row": "bsend, 1d column/row",
        "bsend_1d_row_column": "bsend, 1d row/column",
        "ssend": "ssend, column type",
        "pack_columns": "pack, columns",
        "pack_block": "pack, column type",
        "alltoall": "MPI_Alltoall, column type",
        "alltoallw_column_row": "MPI_Alltoallw, column/row",
        "put_fence": "put, fence, column type",
        "put_fence_column_row": "put, fence, column/row",
        "put_lock_all": "put, lock_all, column type",
        "put_lock_all_column_row": "put, lock_all, column/row",
    },
)
ORDER = Axis("order", "order", whole=True)
AXES = [WAY, FLAVOR, ORDER]


def way(cell: Cell) -> str:
    """Return in words how a cell transposes the matrix."""
    flavor = cell.axis("flavor")
    return str(WAY.value(cell)) + (f", {flavor}" if is_one_sided(cell) else "")


def _table(metric: str, what: str) -> Pivot:
    return Pivot(
        name=f"transpose_{metric}",
        caption=f"{what}: mean over ranks, median over transforms, then over launches, with its "
        "{}.",
        metric=metric,
        axes=AXES,
    )


EXPERIMENT = published_experiment(
    __name__,
    "Transpose",
    55,
    study=STUDY,
    analysis=ReferenceAnalysis(
        [TIME, COMMUNICATION, LOCAL, FOURIER], "all ranks take part at once"
    ),
    lead=(
        "A two-dimensional Fourier transform: columns are transformed, blocks of the matrix are "
        "exchanged among all ranks and transposed, columns are transformed again. With column/row "
        "a block leaves in columns and arrives in rows, so that MPI transposes it."
    ),
    contents=[
        Kinds(
            "transpose", COMMUNICATION.name, [ORDER], way, point=lambda at: f"order {at['order']}"
        ),
        ByCores(_table(COMMUNICATION.name, "Time of the exchange alone")),
        Fold(
            {
                "Whole transform": _table(TIME.name, "Time of a whole transform"),
                "Local transposition": _table(LOCAL.name, "Time of the local transposition"),
                "Fourier transforms": _table(
                    FOURIER.name,
                    "Time of the transforms of columns and of the barrier after the first",
                ),
            }
        ),
        PublishedTable("redbook_table15", folded="Table 15, a matrix of order 4096 on four tasks"),
    ],
)
