"""Up to which size does a send return while no receive is posted?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

LIMIT = Metric("limit", "limit", "count", better="higher")
"""The largest size in bytes whose call returned before rank 0 received; 0: none did."""

REPORTED = {
    variable: Metric(variable.lower(), variable.lower(), "count", better="higher")
    for variable in (
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",
        "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD",
        "MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD",
        "btl_sm_eager_limit",
        "btl_vader_eager_limit",
        "btl_tcp_eager_limit",
    )
}
"""What a library says of itself (MPI_T), by the variable's name."""

EXPERIMENT = timed(__name__, "Eager limit", order=48, study=REDBOOK, time=LIMIT)
