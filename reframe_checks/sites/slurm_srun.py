"""A cluster with Slurm. Slurm's ``srun`` starts the ranks: with PMI2, or with PMIx for Open MPI.

``srun --mpi=list`` says which protocols a Slurm was built with. If the list has no ``pmix``, leave
Open MPI out of ``srun_mpi``; then Open MPI's own launcher starts the ranks inside the job. PMIx
works only if the versions of Open MPI and Slurm fit together, so try the campaign ``smoke`` first.
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
