"""Site files as tests of `onesided site check` want them."""

import os
import re
import socket
from pathlib import Path

import pytest

from onesided.sites import site_check

ROOT = Path(__file__).parents[3]
HERE = f"^{re.escape(socket.gethostname())}$"
FILE = """
from onesided import sites
site_configuration = sites.configuration(
    system="mine", descr="a site", hostnames=[{hostnames!r}], partitions=[{partition!r}], **{more!r}
)
"""
SLURM = {"scheduler": "slurm", "launcher": "srun", "processor": {"num_cpus": 2}}
PMI2 = {"srun_mpi": {"mpich": "pmi2"}}


@pytest.fixture
def site_file(tmp_path, monkeypatch):
    """Return a function that writes a site file with one partition, changed as asked."""
    monkeypatch.setenv("ONESIDED_SESSION", str(tmp_path / "session"))

    def write(*, without=(), hostnames=HERE, more=None, **changes):
        partition = {
            "name": "node",
            "scheduler": "local",
            "launcher": "mpiexec",
            "environs": ["mpich-5.0.2"],
            "features": ["one_node"],
            **changes,
        }
        for key in without:
            del partition[key]
        # different names: Python takes a file of the same second and size for the compiled one
        path = tmp_path / f"mine{len(list(tmp_path.glob('mine*.py')))}.py"
        path.write_text(FILE.format(hostnames=hostnames, partition=partition, more=more or {}))
        return path

    return write


@pytest.fixture(autouse=True)
def one_environment(ready_environment):
    ready_environment("mpich-5.0.2")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts a program on PATH, before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(name, text="exit 0"):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    return put


#: The folder where a package puts the setup of the shell command `module`.
ENVIRONMENT_MODULES = ("/usr/share/modules/init/bash", "/usr/share/Modules/init/bash")


@pytest.fixture(autouse=True)
def no_modules_of_the_machine(monkeypatch):
    """Remove the variables and functions that a shell with modules hands down."""
    for name in [one for one in os.environ if "module" in one.lower() or one == "BASH_ENV"]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("LMOD_CMD", raising=False)


@pytest.fixture
def modules(tmp_path):
    """Return commands that set Environment Modules up, with the modules `one` and `two`."""
    init = next((one for one in ENVIRONMENT_MODULES if Path(one).is_file()), None)
    if init is None:
        pytest.skip("no Environment Modules (Debian: environment-modules)")
    folder = tmp_path / "modulefiles"
    folder.mkdir()
    (folder / "one").write_text("#%Module\nsetenv OF_ONE 1\n")
    (folder / "two").write_text(
        "#%Module\nif {![info exists env(OF_ONE)]} { puts stderr {one is wanted}; break }\n"
    )
    return [f"source {init}", f"module use {folder}"]


def faults(path):
    return [str(fault) for fault in site_check.check(path).faults]
