"""Environments in containers: their declaration, and their reasons without runtime or image."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
import yaml

from onesided.environments import containers, declarations, fingerprint, images, kernels, provision
from onesided.system import documents, paths
from onesided.system.errors import InputError, OnesidedError

ROOT = Path(__file__).parents[2]
DEFINITIONS = sorted((ROOT / "containers").glob("*.def"))


@pytest.fixture
def declare(tmp_path):
    """Return a function that writes environments.yaml with these containers into a folder."""

    def write(**entries):
        document = yaml.safe_load((ROOT / "config" / "environments.yaml").read_text())
        document["containers"] = entries
        (tmp_path / "environments.yaml").write_text(yaml.safe_dump(document))
        (tmp_path / "wheels.lock").write_text((ROOT / "config" / "wheels.lock").read_text())
        return tmp_path

    return write


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a folder of programs that is the whole PATH, on a machine without an image."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    monkeypatch.delenv("ONESIDED_IMAGES", raising=False)
    return programs


def put(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_each_launch_model_of_each_mpi_is_declared_beside_the_native_one():
    found = declarations.declared(in_containers=True)
    models = {(one.native, one.launch_model) for one in found.values() if one.native}
    for name in ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"):
        assert {model for native, model in models if native == name} == {
            containers.CONTAINED, containers.HYBRID, containers.BIND,
        }  # fmt: skip
    abi = {one.native for one in found.values() if one.image == "abi"}
    assert abi == {"mpich-5.0.2", "impi-2021.18.1"}


def test_containers_are_only_what_was_asked_for_by_name():
    natives = {one.name for one in declarations.select([])}
    assert natives == set(declarations.declared())
    assert not any("contained" in name for name in natives)
    [one] = declarations.select(["mpich-5.0.2-contained"])
    assert (one.version, one.launch_model) == ("5.0.2", "contained")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"environment": "mpich-9"}, ["containers.mine.environment", "mpich-9", "mpich-5.0.2"]),
        (
            {"environment": "mpich-debian"},
            ["containers.mine.environment", "found mpich-debian", "expected one of impi-"],
        ),
        ({"launch_model": "naked"}, ["containers.mine.launch_model", "naked", "contained, hybrid"]),
        ({"image": "abi"}, ["containers.mine.launch_model", "hybrid", "bind"]),
        ({"image": "other"}, ["containers.mine.image", "other", "all or abi"]),
        ({"namespaces": "none"}, ["containers.mine.namespaces", "none", "own"]),
        (
            {"launch_model": "contained", "namespaces": "shared"},
            ["containers.mine.namespaces", "shared", "one container"],
        ),
    ],
)
def test_a_fault_in_a_declared_container_is_one_line(declare, entry, words):
    folder = declare(mine={"environment": "mpich-5.0.2", "launch_model": "hybrid", **entry})
    with pytest.raises(InputError) as fault:
        declarations.declared(folder, in_containers=True)
    line = str(fault.value)
    assert "\n" not in line
    assert all(word in line for word in ["environments.yaml", *words])


def test_without_a_runtime_the_reason_says_so(machine):
    document = provision.provide("mpich-5.0.2-contained")
    assert (document["status"], document["reason"]) == (
        "unavailable", "found no apptainer in PATH",
    )  # fmt: skip
    assert document["container"]["environment"] == "mpich-5.0.2"
    assert provision.read("mpich-5.0.2-contained") == document


def test_without_an_image_the_reason_says_what_makes_it(machine):
    put(machine, "apptainer", "exit 0")
    reason = provision.provide("openmpi-5.0.11-hybrid")["reason"]
    assert reason == (
        f"found no image {paths.images_dir()}/onesided-openmpi.sif: "
        "`onesided container build openmpi` makes it"
    )


def image_with(**changes):
    """Return a program that reads this document from any image."""
    held = {
        "schema": "onesided/image/1",
        "name": "mpich",
        "commit": "0" * 40,
        "lock_sha256": "0" * 64,
        "kernel_source_state": fingerprint.kernels_state(),
        "environments": {},
        "abi": None,
        **changes,
    }
    return documents.json.dumps(held)


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (
            image_with(kernel_source_state="old"),
            ["kernels of sources old", "container build mpich"],
        ),
        (image_with(environments={"mpich-1": {}}), ["holds mpich-1, not mpich-5.0.2"]),
        (image_with(name=""), ["name", "found ''"]),
        ("no document", ["line 1", "a whole JSON document"]),
    ],
)
def test_an_image_that_does_not_fit_is_told_with_what_it_holds(machine, held, words):
    (machine / "held").write_text(held + "\n")
    put(machine, "apptainer", f'while read -r line; do echo "$line"; done <{machine / "held"}')
    containers.image_file("mpich").parent.mkdir(parents=True)
    containers.image_file("mpich").write_text("an image")
    document = provision.provide("mpich-5.0.2-contained")
    assert document["status"] == "unavailable"
    assert all(word in document["reason"] for word in words)


def test_a_runtime_that_fails_is_the_reason(machine):
    put(machine, "apptainer", "echo 'FATAL: no user namespaces' >&2; exit 255")
    containers.image_file("mpich").parent.mkdir(parents=True)
    containers.image_file("mpich").write_text("an image")
    reason = provision.provide("mpich-5.0.2-contained")["reason"]
    assert reason == "apptainer: exit 255: FATAL: no user namespaces"


def document(launch_model, **container):
    held = {"image": "/i.sif", "namespaces": "own", "variables": {}, "binds": [], **container}
    native = launch_model == "native"
    return {"launch_model": launch_model, "container": None if native else held}


WORDS = (["mpiexec", "-n", "2"], ["kernel", "--missing"], Path("/here"))


def test_the_launcher_is_inside_or_outside_as_the_launch_model_says(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    enter = "apptainer --silent exec --bind /here --pwd /here"
    lines = {
        model: " ".join(containers.command(document(model), *WORDS))
        for model in ("native", "contained", "hybrid")
    }
    assert lines == {
        "native": "mpiexec -n 2 kernel --missing",
        "contained": f"{enter} /i.sif mpiexec -n 2 kernel --missing",
        "hybrid": f"mpiexec -n 2 {enter} /i.sif kernel --missing",
    }
    bound = document("bind", namespaces="shared", binds=["/a:/b"], variables={"I_MPI_ROOT": "/b"})
    assert " ".join(containers.command(bound, *WORDS)) == (
        f"mpiexec -n 2 {enter} --sharens --bind /a:/b --env I_MPI_ROOT=/b /i.sif kernel --missing"
    )


def test_inside_an_image_nothing_is_entered_again(monkeypatch):
    monkeypatch.setenv("ONESIDED_IMAGE", "/opt/onesided/image.json")
    assert containers.command(document("contained"), *WORDS)[0] == "mpiexec"


def test_inside_an_image_the_environments_are_those_that_it_holds(tmp_path, monkeypatch):
    from onesided.campaign import campaign

    held = tmp_path / "image.json"
    held.write_text(image_with(environments={"mpich-5.0.2": {}}))
    monkeypatch.setenv("ONESIDED_IMAGE", str(held))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    assert campaign.load("quick").environments == ["mpich-5.0.2"]
    assert provision.asked_provider() == "container"
    found = provision.provide("openmpi-5.0.11")
    assert found["reason"] == "this image holds mpich-5.0.2, not openmpi-5.0.11"


def test_the_provider_container_is_for_the_inside_of_an_image_only():
    with pytest.raises(InputError, match="expected spack, or nothing"):
        provision.asked_provider("container")


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
def test_no_definition_names_a_version_of_an_mpi_or_a_host(path):
    text = path.read_text()
    declared = {one.version for one in declarations.declared().values() if one.version}
    assert not any(version in text for version in declared)
    assert not re.search(r"https?://|\b[a-z-]+\.(org|com|net|io)\b(?!\S* \{)", strip_labels(text))
    if path.stem not in ("base", "toolchain"):
        for section in ("%labels", "%test", "%runscript", "%help"):
            assert section in text or path.stem == "abi"


def strip_labels(text):
    return re.sub(r"^ +org\.onesided\..*$", "", text, flags=re.MULTILINE)


def test_there_is_a_definition_for_every_image_that_can_be_built():
    names = {path.stem for path in DEFINITIONS} - {"base", "toolchain"}
    assert {image.definition for image in images.known().values()} == names


def test_an_image_is_built_with_the_versions_that_are_declared():
    declared = declarations.declared()
    for name, one in declared.items():
        if one.provider == "wheel":
            image = images.known()[name]
            assert image.arguments["environments"] == name
            assert image.arguments["mpi"] == one.family
            assert image.arguments["version"] == one.version
            assert image.arguments["title"].endswith(f" {one.version}")
        else:
            assert name not in images.known()
    held = images.known()["all"].arguments["environments"].split()
    assert [declared[name].family for name in held] == ["mpich", "openmpi", "impi"]


def test_without_a_runtime_nothing_is_built(machine):
    with pytest.raises(OnesidedError, match="found no apptainer in PATH"):
        images.Builder()


def test_tests_and_what_git_ignores_are_no_part_of_an_image():
    names = list(images.files_of_checkout())
    assert "src/onesided/environments/images.py" in names
    assert not any(name.startswith(("tests/", ".ci/", "build/", ".venv/")) for name in names)


def test_the_time_in_an_image_is_the_commits_or_what_is_asked_for(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert images.epoch() == 1700000000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH: found 'yesterday'"):
        images.epoch()


def test_images_differ_where_a_file_does_in_kind_mode_or_content():
    first = {"/a": "file 0644 1", "/b": "folder 0755", "/c": "link to /a"}
    second = {"/a": "file 0755 1", "/b": "folder 0755", "/d": "link to /a"}
    assert images.differences(first, first) == []
    assert images.differences(first, second) == [
        "/a: file 0644 1 | file 0755 1",
        "/c: link to /a | not there",
        "/d: not there | link to /a",
    ]


def test_a_folder_that_one_image_alone_has_is_one_line():
    first = {"/k": "folder 0755", "/k/1": "folder 0755", "/k/1/a": "file 0755 1"}
    second = {"/k": "folder 0755", "/k/1-b": "file 0644 2", "/k/2": "folder 0755", "/k/2/a": "file"}
    assert images.differences(first, second) == [
        "/k/1: folder 0755 | not there",
        "/k/1-b: not there | file 0644 2",
        "/k/2: not there | folder 0755",
    ]


def test_kernels_of_a_container_are_launched_in_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    held = {
        **document("contained"),
        "launcher": {"path": "/in/mpiexec", "oversubscribe": [], "placement": {"unbound": []}},
        "kernels_prefix": {"single": "/in/kernels"},
        "name": "mine",
    }
    line = kernels.launch_line(held, "progress", ["--help"])
    inside = ["/i.sif", "/in/mpiexec", "-n", "2", "/in/kernels/bin/progress", "--help"]
    assert line[-6:] == inside
