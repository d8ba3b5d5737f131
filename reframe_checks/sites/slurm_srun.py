"""A cluster with Slurm, whose ``srun`` starts the ranks: by PMI2, or by PMIx for Open MPI.

``srun --mpi=list`` says which protocols a Slurm was built with. Leave Open MPI out of ``srun_mpi``
if the list has no ``pmix``: its own launcher then starts the ranks inside the job. An Open MPI and
a Slurm agree about PMIx only if the versions of both fit: try the campaign ``smoke`` first.
"""

from onesided import sites

STARTED_BY_SRUN = {"mpich": "pmi2", "impi": "pmi2", "openmpi": "pmix"}
COMMON = {
    "scheduler": "slurm",
    "launcher": "srun",
    "access": ["--partition=standard", "--account=project", "--exclusive"],
    "time_limit": "20m",
    "processor": {"num_cpus": 128},
}

site_configuration = sites.configuration(
    system="slurm_srun",
    descr="a cluster with Slurm, ranks started by srun",
    hostnames=["^login[0-9]+$"],
    partitions=[
        {
            **COMMON,
            "name": "node",
            "descr": "all ranks on one node",
            "features": ["one_node"],
            "extras": {"srun_mpi": STARTED_BY_SRUN},
        },
        {
            **COMMON,
            "name": "network",
            "descr": "each rank on a node of its own",
            "features": ["network"],
            "extras": {"srun_mpi": STARTED_BY_SRUN, "ranks_per_node": 1},
        },
    ],
)
