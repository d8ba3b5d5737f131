"""The MPI of a site's own environment, from the probe's findings."""

import json
import re

import pytest

from onesided.environments import kernels, settings, site_mpi
from onesided.system import documents
from onesided.system.command import UnavailableError

CRAY = """MPI VERSION    : CRAY MPICH version 8.1.28.2 (ANL base 3.4a2)
MPI BUILD INFO : Wed Nov 15 20:57 2023 (git hash 1cde46f)"""
OPEN_MPI = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4"


@pytest.fixture(autouse=True)
def own_build(tmp_path, monkeypatch):
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))


def definition(**changes):
    return {
        "partition": "box:compute",
        "environment": "PrgEnv-gnu",
        "cc": "cc",
        "flags": [[], []],
        "modules": [],
        "variables": [{}, {}],
        "commands": [[], []],
        "launcher": "srun",
        **changes,
    }


def described(folder, text, **changes):
    """Return the document for the probe's findings with two ranks."""
    findings = {
        "library_version": text,
        "library_path": "/opt/mpi/lib/libmpi.so",
        "standard_version": "3.1",
        "thread_level_provided": "multiple",
        "abi": None,
        "ranks": 2,
        "errors": 0,
        **changes,
    }
    (folder / site_mpi.FINDINGS).write_text(json.dumps(findings))
    (folder / site_mpi.COMPILER).write_text("/opt/mpi/bin/cc\n")
    return site_mpi.described(definition(), folder)


def test_an_mpi_of_a_known_family_has_its_settings(tmp_path):
    found = described(tmp_path, OPEN_MPI)
    documents.check(found, "environment", tmp_path)
    assert (found["provider"], found["family"], found["version"]) == ("reframe", "openmpi", "4.1.4")
    assert found["thread_level_provided"] == "multiple"
    assert found["compilers"] == {"c": "/opt/mpi/bin/cc"}


def test_an_mpi_of_no_known_family_has_only_the_default_setting(tmp_path):
    found = described(tmp_path, CRAY, thread_level_provided="serialized")
    documents.check(found, "environment", tmp_path)
    assert (found["family"], found["version"]) == (None, "8.1.28.2")
    pattern = re.compile(found["library_version_pattern"])
    assert pattern.search(found["library_version"])
    assert not pattern.search(CRAY.replace("8.1.28.2", "8.1.28.20"))
    assert found["library_version"].startswith("MPI VERSION : CRAY MPICH version 8.1.28.2")
    assert found["features"] == []
    usable = {
        name
        for name in settings.names()
        if settings.value(name, found["family"], found["version"]).unavailable is None
    }
    assert usable == {settings.DEFAULT}
    assert settings.value(settings.DEFAULT, None, found["version"]).variables == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": 1}, ["launcher srun made worlds of 1, not of 2", "Open MPI v4.1.4"]),
        ({"errors": 3}, ["a put lost 3 elements", "Open MPI v4.1.4"]),
    ],
)
def test_a_probe_that_did_not_work_is_one_line(tmp_path, changes, words):
    with pytest.raises(UnavailableError) as caught:
        described(tmp_path, OPEN_MPI, **changes)
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "family"),
    [(f"/usr/lib/libmpi.so\n{OPEN_MPI}", "openmpi"), (CRAY, None), ("", None)],
)
def test_the_family_that_srun_serves_is_in_the_librarys_text(text, family):
    assert site_mpi.family_in(text) == family


def test_before_the_first_probe_nothing_is_said_of_the_mpi():
    found = site_mpi.read(definition())
    assert found["status"] == "ready"
    assert [found[name] for name in ("family", "version", "library_version")] == [None, None, None]


def test_an_environment_of_the_same_name_on_two_partitions_has_kernels_of_its_own():
    first, second = (
        kernels.prefix_of(site_mpi.read(definition(partition=f"box:{name}")))
        for name in ("compute", "login")
    )
    assert first != second
    again = kernels.prefix_of(site_mpi.read(definition(modules=["mpi/5"], partition="box:compute")))
    assert again not in (first, second)


def test_an_mpi_whose_version_text_is_unknown_has_the_first_number_as_its_version(tmp_path):
    found = described(tmp_path, "Spectacular MPI, release 10.4.0 (PAMI)")
    assert (found["family"], found["version"]) == (None, "10.4.0")
    assert re.search(found["library_version_pattern"], "Spectacular MPI, release 10.4.0 (other)")
    assert not re.search(found["library_version_pattern"], "Spectacular MPI, release 10.4.01")
