"""A machine without a scheduler, used as one node, and as several hosts joined by a wire.

Use this file as ``reframe -C reframe_checks/sites/laptop.py``. ReFrame reads environments from the
files that ``onesided environments`` writes. Environments that do not exist yet, or are unavailable,
are also listed. The checks of an environment that does not exist or is unavailable are skipped with
a reason.
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
        },
        {
            "name": "wire",
            "descr": "a rank on each of several hosts of this machine, joined by a wire",
            "scheduler": "local",
            "launcher": "mpiexec",
            "features": ["network", "wire"],
            "extras": {"ranks_per_node": 1, "nodes": 4},
        },
    ],
)
