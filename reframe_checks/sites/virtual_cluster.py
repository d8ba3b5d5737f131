"""The virtual Slurm cluster of tests/cluster. The cluster's nodes are namespaces of one machine.

This file is used if ``SLURM_CONF`` names the cluster; the command
`python tests/cluster/virtual_cluster.py -- …` sets this variable. The cluster's Slurm starts MPICH
and Intel MPI by itself (PMI2); Open MPI uses its own launcher.
"""

import importlib
import os
from pathlib import Path

from onesided.sites import configuration

# ReFrame asks about a job after two seconds, when a large site's controller knows the job. This
# controller knows a job earlier. A file with `import reframe` would be loaded as a check.
importlib.import_module("reframe.core.schedulers.slurm").SqueueJobScheduler.SQUEUE_DELAY = 0.2


def nodes():
    """Return the cluster's number of nodes as an extra of ReFrame; {} if there is no cluster."""
    path = Path(os.environ.get("SLURM_CONF", ""))
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    number = sum(line.startswith("NodeName=") for line in lines)
    return {"nodes": number} if number > 1 else {}


SLURM = {
    # `squeue`, because the cluster has no accounting
    "scheduler": "squeue",
    "launcher": "srun",
    "max_jobs": 1,
    # ReFrame cancels a job that waits for a lost node; a later run repeats the job's tests
    "sched_options": {
        "slurm_job_cancel_reasons": ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
    },
}
# all nodes share the machine's cores, so more ranks than cores are allowed
ACCESS = ["--no-requeue", "--overcommit"]
SRUN_MPI = {"mpich": "pmi2", "impi": "pmi2"}

site_configuration = configuration(
    "virtual_cluster",
    "nodes that are namespaces of one machine, under a Slurm of their own",
    [
        {
            "name": "node",
            "descr": "all ranks on one node",
            "access": ["--partition=node", *ACCESS],
            "features": ["one_node"],
            "extras": {"srun_mpi": SRUN_MPI},
            **SLURM,
        },
        {
            "name": "network",
            "descr": "one rank on each node",
            "access": ["--partition=network", *ACCESS],
            "features": ["network"],
            "extras": {"srun_mpi": SRUN_MPI, "ranks_per_node": 1, **nodes()},
            **SLURM,
        },
    ],
)
