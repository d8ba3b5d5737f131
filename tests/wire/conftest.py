"""What tests of the wire share: without its hosts none of them runs."""

import pytest

from onesided.sites import wire


@pytest.fixture(autouse=True)
def hosts():
    if wire.missing():
        pytest.skip(wire.missing())
