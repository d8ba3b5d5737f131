"""Without the hosts of the wire, none of its tests runs."""

import pytest

from onesided.system import wire


@pytest.fixture(autouse=True)
def hosts():
    if wire.missing():
        pytest.skip(wire.missing())
