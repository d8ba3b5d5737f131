"""A workstation for several people: no scheduler, and half of its cores are for measuring.

ReFrame and all it starts keep to the cores that ``taskset`` leaves them:

    taskset -c 0-15 reframe -C reframe_checks/sites/workstation.py -c reframe_checks -R -t smoke -r

Without a scheduler the checks count the cores that ReFrame may use, and never more than said here.
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
