"""The image of OpenSHMEM: built, tested and run by an ordinary user."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(3600)  # builds images


@pytest.fixture(scope="module")
def openshmem(images):
    return images("openshmem")


def test_the_image_of_openshmem_holds_its_environment_and_verifies_what_it_counted(
    person, openshmem
):
    said = person.do("apptainer", "test", openshmem)
    assert "openshmem-debian: 2 ranks in a world" in said
    assert "cells verified" in said


def test_the_apps_of_the_image_of_openshmem_are_its_kernels(person, openshmem):
    usage = person.do("apptainer", "run", "--app", "shared_counter", openshmem, "--help")
    assert "shmem_fetch_inc" in usage
    apps = person.do("apptainer", "inspect", "--list-apps", openshmem).split()
    assert "tree_broadcast" in apps
    assert "progress" not in apps
