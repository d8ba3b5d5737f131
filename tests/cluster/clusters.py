"""A virtual Slurm cluster that a test finds through its variables."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .virtual_cluster import VirtualCluster, missing


@contextmanager
def started(nodes: int = 2) -> Iterator[VirtualCluster]:
    """Start a cluster and set its variables for this process, or skip with what is missing."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch, VirtualCluster(nodes) as cluster:
        for name, value in cluster.variables.items():
            patch.setenv(name, value)
        yield cluster
