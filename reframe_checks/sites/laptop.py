"""A machine with no scheduler: one partition, and every declared environment found on it.

Used as ``reframe -C reframe_checks/sites/laptop.py``. Environments are read from the files that
``onesided environments`` writes; one that is not there yet, or could not be provided, is listed
all the same, so that its checks are skipped with the reason and not left out.
"""

from onesided import sites

site_configuration = sites.configuration(
    system="laptop",
    descr="this machine, as it is",
    partitions=[
        {
            "name": "node",
            "descr": "ranks side by side on this machine",
            "scheduler": "local",
            "launcher": "mpiexec",
            "features": ["one_node"],
        }
    ],
)
