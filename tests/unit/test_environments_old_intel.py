"""An Intel MPI of before 2021.15, whose libfabric is apart from its providers.

A real one, installed from the package index; skipped where that cannot be reached.
"""

import json
import shutil

import pytest
import yaml
from fake_mpi import CHECKOUT

from onesided.environments import kernels, provision
from onesided.system import paths

NAME = "impi-2021.1.1"
CELL = "algorithm=fetch_and_op_flush;flavor=allocate;case=target_idle;compute_ms=2;spread_percent=0"
ENTRY = {
    "provider": "wheel", "family": "impi", "version": "2021.1.1",
    "packages": ["impi-rt", "impi-devel"],
}  # fmt: skip


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A checkout with the project's sources and that MPI beside those that it declares."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    shutil.copytree(CHECKOUT / "config", tmp_path / "config")
    for name in ("src", "reframe_checks"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    path = tmp_path / "config/environments.yaml"
    document = yaml.safe_load(path.read_text())
    document["environments"][NAME] = ENTRY
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return tmp_path


def provide():
    document = provision.provide(NAME)
    if "pip failed" in (document["reason"] or ""):
        pytest.skip(f"{NAME} cannot be installed: {document['reason']}")
    return document


@pytest.mark.slow
def test_it_becomes_ready_or_says_why_not_and_two_ranks_of_a_kernel_run_with_it(old, monkeypatch):
    # as where its providers are not found
    monkeypatch.setenv("FI_PROVIDER_PATH", "/not/there")
    reason = provide()["reason"]
    assert reason.startswith("mpiexec exited ")
    assert ": OFI addrinfo() failed (" in reason

    # of the providers that it has, the first is one for an adapter wherever UCX is installed
    monkeypatch.delenv("FI_PROVIDER_PATH")
    monkeypatch.setenv("FI_PROVIDER", "tcp")
    document = provide()
    assert (document["status"], document["reason"]) == ("ready", None)

    kernels.build(document, ["shared_counter"])
    lines = old / "lines.jsonl"
    options = ["--cells", CELL, "--output", str(lines)]
    line = kernels.launch_line(document, "shared_counter", options)
    assert kernels.launch(line, kernels.variables(document), 120) == 0
    header, *_, result, _ = map(json.loads, lines.read_text().splitlines())
    # and no other MPI of this machine, which CMake finds where a wrapper's words puzzle it
    assert header["mpi"]["library_path"].startswith(str(paths.environments_dir() / NAME))
    assert (header["ranks"], result["status"]) == (2, "ok")
