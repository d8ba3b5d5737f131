"""A killed container leaves processes that mount its image: these are ended, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.timeout(3600)  # builds images

START_S = 90
GONE_S = 10

END = """
import sys
from pathlib import Path
from onesided.system import strays
print(strays.end_mounts(Path(sys.argv[1])))
"""


def mounters():
    answer = subprocess.run(["pgrep", "-c", "squashfuse"], capture_output=True, text=True)
    return int(answer.stdout or 0)


def end(person, image):
    """End the processes that mount images for nobody; return their number."""
    return int(person.do("python", "-c", END, image.parent))


@pytest.fixture
def container(person, images):
    """Start a container that sleeps; return its process, and the image."""
    image = images("mpich")
    end(person, image)
    before = mounters()
    process = subprocess.Popen(
        [*person.prefix, "apptainer", "--silent", "exec", image, "sleep", "300"],
        env=person.variables,
        cwd=person.folder,
        start_new_session=True,
    )
    deadline = time.monotonic() + START_S
    while mounters() == before and time.monotonic() < deadline:
        time.sleep(0.1)
    if mounters() == before:
        process.kill()
        pytest.skip("no squashfuse: this machine unpacks images")
    yield process, image, before
    process.kill()


def test_only_what_mounts_an_image_for_nobody_is_ended(person, container):
    process, image, before = container

    assert end(person, image) == 0
    assert process.poll() is None
    # like a launcher that ends its ranks
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + GONE_S
    while mounters() > before and time.monotonic() < deadline:
        end(person, image)
        time.sleep(0.5)
    assert mounters() == before
