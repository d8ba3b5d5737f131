"""Campaigns whose kernels Spack builds: with a real Spack (else skipped), and without."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from onesided.environments import fingerprint, provision
from onesided.environments.providers import spack
from onesided.environments.spack_machine import plan
from onesided.system import paths

pytestmark = pytest.mark.timeout(3600)  # Spack installs

NAME = "mpich-5.0.2"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def one_mpi(tmp_path, monkeypatch):
    """Give a Spack environment with one MPI in its own folder, with its own build folder.

    The machine's own files of this kind are not touched.
    """
    if spack.find() is None:
        pytest.skip(f"no Spack in {spack.where_it_was_looked_for()}")
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    ready = provision.provide(NAME)
    if ready["status"] != "ready":
        pytest.skip(f"{NAME} is unavailable: {ready['reason']}")
    found = plan.make("local")
    folder = tmp_path / "environment"
    folder.mkdir()
    for path, text in found.files.items():
        (folder / path.name).write_text(text)
    document = yaml.safe_load((ROOT / "spack.yaml").read_text())
    document["spack"] |= {
        "include": [str(folder / path.name) for path in found.files],
        "repos": {"onesided": str(ROOT / "spack/spack_repo/onesided")},
        "specs": [{"matrix": [["$kernels"], [f"^mpich@{ready['version']}"]]}],
        "view": False,
    }
    sources = paths.project_root() / "src/kernels"
    document["spack"]["develop"]["onesided-kernels"]["path"] = str(sources)
    (folder / "spack.yaml").write_text(yaml.safe_dump(document))
    monkeypatch.setenv(spack.ENVIRONMENT_VARIABLE, str(folder))
    return ready


def headers_of(results):
    return [
        json.loads(lines.read_text().splitlines()[0])
        for lines in sorted(results.rglob("lines.jsonl"))
    ]


@pytest.mark.slow
def test_without_spack_the_campaign_completes_with_kernels_that_cmake_built(
    ready_environment, onesided, campaign_file, tmp_path, monkeypatch
):
    ready_environment(NAME)
    monkeypatch.delenv("SPACK_ROOT", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    answer = onesided("run", campaign_file(provider="spack", environments=[NAME]))
    said = [line for line in answer.stdout.splitlines() if "Spack" in line]
    assert said == [
        "no Spack in PATH (SPACK_ROOT is not set): CMake builds the kernels "
        "with each MPI's own compiler"
    ]
    results = tmp_path / "results" / "tiny"
    headers = headers_of(results)
    assert {header["labels"]["provider"] for header in headers} == {"wheel"}
    assert not any("spack_lock_sha256" in header["labels"] for header in headers)
    verdicts = json.loads((results / "verdicts.json").read_text())["cells"]
    assert {cell["verdict"] for cell in verdicts}.isdisjoint({"unavailable", "not run", "crash"})


def test_a_campaign_runs_the_kernels_of_each_level_and_names_the_lock(
    one_mpi, onesided, campaign_file, tmp_path
):
    path = campaign_file(provider="spack", environments=[NAME])
    onesided("run", path)
    document = provision.read(NAME, "spack")
    assert document["provider"] == "spack", document["reason"]
    same = ("prefix", "features", "launcher", "variables", "library_version")
    assert {key: document[key] for key in same} == {key: one_mpi[key] for key in same}
    results = tmp_path / "results" / "tiny"
    sha256 = document["spack"]["lock_sha256"]
    kept = json.loads((results / "spack" / f"{sha256}.lock").read_text())
    assert all(root["spec"].startswith("onesided-kernels") for root in kept["roots"])
    headers = headers_of(results)
    assert headers
    for header in headers:
        assert header["labels"]["provider"] == "spack"
        assert header["labels"]["spack_lock_sha256"] == sha256
        assert header["source_state"] == fingerprint.kernel_source_state(header["kernel"])
        library = os.path.realpath(header["mpi"]["library_path"])
        assert Path(library).is_relative_to(os.path.realpath(one_mpi["prefix"]))
    verdicts = json.loads((results / "verdicts.json").read_text())["cells"]
    assert {cell["verdict"] for cell in verdicts}.isdisjoint({"unavailable", "not run", "crash"})
