"""Two real ranks run under what `onesided spack machine` wrote."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from onesided.environments import identity
from onesided.environments.spack_machine import find, plan
from onesided.system import paths

from .conftest import fault_of, sourced

RANKS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, size, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_library_version(text, &length);
    if (rank == 0) printf("ranks %d\n%s\n", size, text);
    return MPI_Finalize();
}
"""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def two_ranks(folder, programs, variables):
    """Compile with a prefix's wrapper, run two ranks with its launcher; return their output."""
    (folder / "ranks.c").write_text(RANKS)
    crowd = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    options = {"cwd": folder, "env": {**os.environ, **AS_ROOT, **crowd, **variables}}
    options |= {"capture_output": True, "text": True, "timeout": 60, "check": True}
    subprocess.run([programs / "mpicc", "ranks.c", "-o", "ranks"], **options)
    return subprocess.run([programs / "mpiexec", "-n", "2", "./ranks"], **options).stdout


@pytest.mark.parametrize(("suffix", "package"), [("mpich", "mpich"), ("openmpi", "openmpi")])
def test_two_ranks_run_under_each_of_debians_mpis_by_its_prefix(
    tmp_path, monkeypatch, suffix, package
):
    if shutil.which(f"mpicc.{suffix}") is None:
        pytest.skip(f"Debian's {suffix} is not installed")
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    [mpi] = [one for one in find.debian() if one.spec.startswith(f"{package}@")]
    plan.carry_out(plan.Plan([mpi], [], {}, {}, None))
    libraries = {"LD_LIBRARY_PATH": str(mpi.prefix / "lib")}
    said = two_ranks(tmp_path, mpi.prefix / "bin", libraries)
    assert said.startswith("ranks 2\n")
    assert identity.SAYS[package].search(said)[1] == mpi.spec.partition("@")[2]
    found = identity.identify(mpi.prefix / "bin/mpicc")
    assert str(found) == mpi.spec


def test_debians_mpich_named_by_usr_is_refused_with_the_mpi_that_would_be_linked(tmp_path):
    if not (Path("/usr/bin/mpicc").exists() and Path("/usr/bin/mpicc.mpich").exists()):
        pytest.skip("Debian's mpich is not installed")
    default = identity.identify(Path("/usr/bin/mpicc"))
    path = tmp_path / "machine.yaml"
    external = {"buildable": False, "externals": [{"spec": "mpich@4.0.2", "prefix": "/usr"}]}
    path.write_text(
        yaml.safe_dump(
            {"definitions": [{"mpis": ["mpich@4.0.2"]}], "packages": {"mpich": external}}
        )
    )
    assert f"found /usr for mpich@4.0.2, where bin/mpicc links {default}" in fault_of(path)


def test_two_ranks_run_under_intels_wheel_by_the_layout_that_spack_wants(
    ready_environment, tmp_path, monkeypatch
):
    ready_environment("impi-2021.18.1")
    document = paths.environment_file("impi-2021.18.1").read_text()
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    paths.environment_file("impi-2021.18.1").parent.mkdir(parents=True)
    paths.environment_file("impi-2021.18.1").write_text(document)
    [mpi] = find.wheels()
    plan.carry_out(plan.Plan([mpi], [], {}, {}, None))
    folder = identity.component("intel-oneapi-mpi", "2021.18.1", mpi.prefix)
    variables = sourced((folder / "env/vars.sh").read_text(), {})
    said = two_ranks(tmp_path, folder / "bin", variables)
    assert said.startswith("ranks 2\n")
    assert "Intel(R) MPI Library 2021.18" in said
