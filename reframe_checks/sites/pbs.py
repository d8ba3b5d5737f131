"""A cluster with PBS Pro or OpenPBS. Each MPI's own ``mpiexec`` starts the ranks inside the job.

ReFrame asks for ``select=<nodes>:mpiprocs=<ranks a node>:ncpus=<ranks a node>``. Options in
``access`` that begin with a dash become separate lines; other options are added to ``select``.
MPICH and Intel MPI take the nodes from ``PBS_NODEFILE`` and reach the nodes by ssh, which must not
ask for a password. An Open MPI without PBS's interface (such as the wheel) knows only one node, so
the partition ``network`` leaves this Open MPI out.
"""

from onesided import sites

COMMON = {
    "scheduler": "pbs",
    "launcher": "mpiexec",
    "time_limit": "20m",
    "processor": {"num_cpus": 64},
}
QUEUE = ["-q workq", "-A project"]

site_configuration = sites.configuration(
    system="pbs",
    descr="a cluster with PBS Pro",
    hostnames=["^pbs-login"],
    partitions=[
        {
            **COMMON,
            "name": "node",
            "descr": "all ranks on one node",
            "access": [*QUEUE, "-l place=pack:excl"],
            "features": ["one_node"],
        },
        {
            **COMMON,
            "name": "network",
            "descr": "each rank on a node of its own",
            "access": [*QUEUE, "-l place=scatter:excl"],
            "environs": ["mpich-5.0.2", "impi-2021.18.1"],
            "features": ["network"],
            "extras": {"ranks_per_node": 1},
        },
    ],
)
