"""A machine without a scheduler: one partition, and every declared environment.

Use it as ``reframe -C reframe_checks/sites/laptop.py``. ReFrame reads environments from the files
that ``onesided environments`` writes. An environment that does not exist yet, or is unavailable, is
also listed, so that its checks are skipped with the reason instead of being left out.
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
