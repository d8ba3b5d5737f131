"""A cluster with Flux: ReFrame runs inside an instance, and ``flux run`` starts the ranks.

Start an instance with ``flux alloc -N 2 --exclusive``. In the instance, start ReFrame with
``reframe -C reframe_checks/sites/flux.py -c reframe_checks -R -t smoke -r``.

ReFrame's own scheduler ``flux`` gives a job script only one core on one node, even if a test asks
for more. Therefore the script runs on the node where ReFrame runs, and Flux places the ranks. Flux
can start the ranks of MPICH without another launcher. With the plugin flux-pmix, Flux can also
start the ranks of Open MPI 5. For Open MPI 5, add a partition with the option ``-o pmi=pmix``.
"""

from onesided import sites
from onesided.sites import launchers

COMMON = {
    "scheduler": "local",
    "launcher": launchers.FluxRun.registered_name,
    "environs": ["mpich-5.0.2"],
    "processor": {"num_cpus": 64},
}
PLACEMENT = {"unbound": ["-o", "cpu-affinity=off"], "core": ["-o", "cpu-affinity=per-task"]}

site_configuration = sites.configuration(
    system="flux",
    descr="a cluster with Flux",
    hostnames=["^flux-node"],
    partitions=[
        {
            **COMMON,
            "name": "node",
            "descr": "all ranks on one node",
            "features": ["one_node"],
            "extras": {"launcher_placement": PLACEMENT},
        },
        {
            **COMMON,
            "name": "network",
            "descr": "each rank on a node of its own",
            "features": ["network"],
            "extras": {"launcher_placement": PLACEMENT, "ranks_per_node": 1},
        },
    ],
)
