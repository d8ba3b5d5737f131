"""A virtual Slurm cluster for the tests of this folder, or a skip that says what there is not."""

import pytest
from virtual_cluster import VirtualCluster, missing


@pytest.fixture
def cluster(monkeypatch):
    reason = missing()
    if reason:
        pytest.skip(reason)
    with VirtualCluster() as started:
        for name, value in started.variables.items():
            monkeypatch.setenv(name, value)
        yield started
