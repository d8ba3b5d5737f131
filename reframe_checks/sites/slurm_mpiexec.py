"""A cluster with Slurm. Each MPI's own ``mpiexec`` starts the ranks inside the job.

Only one thing must work between the MPI and Slurm: the launcher must find the nodes of its job. The
launchers of MPICH, Intel MPI and Open MPI read Slurm's variables and reach the nodes by ``srun``.
"""

from onesided import sites

COMMON = {
    # without Slurm's accounting (no `sacct`) it is "squeue"
    "scheduler": "slurm",
    "launcher": "mpiexec",
    "access": ["--partition=standard", "--account=project", "--exclusive"],
    "time_limit": "20m",
    "processor": {"num_cpus": 128},
}

site_configuration = sites.configuration(
    system="slurm_mpiexec",
    descr="a cluster with Slurm, ranks started by each MPI's mpiexec",
    hostnames=["^login[0-9]+$"],
    partitions=[
        {
            **COMMON,
            "name": "node",
            "descr": "all ranks on one node",
            "features": ["one_node"],
        },
        {
            **COMMON,
            "name": "network",
            "descr": "each rank on a node of its own",
            "features": ["network"],
            "extras": {"ranks_per_node": 1},
        },
    ],
)
