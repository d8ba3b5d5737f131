"""The virtual Slurm cluster of tests/cluster. The cluster's nodes are namespaces of one machine.

This file is used if ``SLURM_CONF`` names the cluster; the command
`python tests/cluster/virtual_cluster.py -- …` sets this variable. The cluster's Slurm starts MPICH
and Intel MPI by itself (PMI2); Open MPI uses its own launcher.
"""

import importlib
import os
from pathlib import Path

from onesided.sites import configuration

# ReFrame waits two seconds before it asks for a job, until a large site's controller knows the job;
# this controller knows a job at once. ReFrame would load a file that imports ReFrame as a check.
importlib.import_module("reframe.core.schedulers.slurm").SqueueJobScheduler.SQUEUE_DELAY = 0.2


def nodes():
    """Return the cluster's number of nodes as an extra of ReFrame; {} if there is no cluster."""
    path = Path(os.environ.get("SLURM_CONF", ""))
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    number = sum(line.startswith("NodeName=") for line in lines)
    return {"nodes": number} if number > 1 else {}


SLURM = {
    # the queue is asked, because there is no accounting
    "scheduler": "squeue",
    "launcher": "srun",
    "max_jobs": 1,
    # a job that would wait for a lost node ends; a later run takes its tests up again
    "sched_options": {
        "slurm_job_cancel_reasons": ["ReqNodeNotAvail", "Nodes required for job are DOWN"],
    },
}
# nodes have the machine's cores: more ranks than cores are no fault
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
