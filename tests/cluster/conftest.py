"""A virtual Slurm cluster for the tests of this folder, or a skip that says what is missing."""

from pathlib import Path

import pytest
import quiet
from cluster.clusters import started


def pytest_collection_modifyitems(items):
    """Mark all tests slow; the files mark tests that compare times."""
    quiet.mark(items, Path(__file__).parent, pytest.mark.slow)


@pytest.fixture
def cluster():
    with started() as one:
        yield one
