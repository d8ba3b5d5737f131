"""Intel MPIs before 2021.15, whose libfabric is apart from its providers.

The MPIs are real, from the package index; the tests are skipped without the index.
"""

import json
import shutil

import pytest
import yaml
from fake_mpi import CHECKOUT

from onesided.environments import kernels, probe, provision
from onesided.system import paths

#: The oldest version, and a version that does not find its providers.
VERSIONS = ("2021.1.1", "2021.10.0")
CELL = "algorithm=fetch_and_op_flush;flavor=allocate;case=target_idle;compute_ms=2;spread_percent=0"
ENTRY = {"provider": "wheel", "family": "impi", "packages": ["impi-rt", "impi-devel"]}
PATH = "FI_PROVIDER_PATH"


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A checkout with the project's sources, its declared MPIs, and these MPIs."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    shutil.copytree(CHECKOUT / "config", tmp_path / "config")
    for name in ("src", "reframe_checks"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    path = tmp_path / "config/environments.yaml"
    document = yaml.safe_load(path.read_text())
    for version in VERSIONS:
        document["environments"][f"impi-{version}"] = ENTRY | {"version": version}
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return tmp_path


def provide(name):
    document = provision.provide(name)
    if "pip failed" in (document["reason"] or ""):
        pytest.skip(f"{name} cannot be installed: {document['reason']}")
    return document


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_it_becomes_ready_by_itself_and_two_ranks_of_a_kernel_run_with_it(old, version):
    name = f"impi-{version}"
    document = provide(name)
    assert (document["status"], document["reason"]) == ("ready", None)
    # the folder that it needs is its own, and part of the environment
    providers = str(paths.environments_dir() / name / "prefix/lib/libfabric/prov")
    assert document["variables"].get(PATH, providers) == providers
    assert PATH in document["variables"] or version != "2021.10.0"

    kernels.build(document, ["shared_counter"])
    lines = old / "lines.jsonl"
    options = ["--cells", CELL, "--output", str(lines)]
    line = kernels.launch_line(document, "shared_counter", options)
    assert kernels.launch(line, kernels.variables(document), 120) == 0
    header, *_, result, _ = map(json.loads, lines.read_text().splitlines())
    # no other MPI of this machine, which CMake finds if a wrapper's words confuse it
    assert header["mpi"]["library_path"].startswith(str(paths.environments_dir() / name))
    assert (header["ranks"], result["status"]) == (2, "ok")


@pytest.mark.slow
def test_where_none_of_its_providers_is_found_it_says_why(old, monkeypatch):
    monkeypatch.setenv(PATH, "/not/there")
    monkeypatch.setattr(probe, "attempts", lambda declared, root: [{}])
    reason = provide("impi-2021.1.1")["reason"]
    assert reason.startswith("mpiexec exited ")
    assert ": OFI addrinfo() failed (" in reason
