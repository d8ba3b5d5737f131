"""A workstation for several people, without a scheduler.

Half of the machine's cores are for measuring. ReFrame, and all that it starts, use only the cores
that ``taskset`` allows. To use the first 16 cores, start ReFrame with
``taskset -c 0-15 reframe -C reframe_checks/sites/workstation.py -c reframe_checks -R -t smoke -r``.

Without a scheduler, the checks count the cores that ReFrame may use, but never more than this file
says.
"""

from onesided import sites

site_configuration = sites.configuration(
    system="workstation",
    descr="a workstation of two processors with 16 cores each, one of them for measuring",
    hostnames=["^workstation"],
    partitions=[
        {
            "name": "processor",
            "descr": "ranks side by side on one processor",
            "scheduler": "local",
            "launcher": "mpiexec",
            "environs": ["mpich-5.0.2", "openmpi-5.0.11"],
            "processor": {"num_cpus": 16},
            "features": ["one_node"],
        }
    ],
)
