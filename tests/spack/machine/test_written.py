"""What `onesided spack machine` writes."""

import shutil
from pathlib import Path

import pytest
import yaml

from onesided import cli
from onesided.environments import spack_machine
from onesided.environments.providers import spack
from onesided.environments.spack_machine import plan
from onesided.system.errors import OnesidedError

from .conftest import file_of, provide_wheel


def test_it_shows_what_it_would_do_and_does_nothing(two_mpis, capsys):
    assert cli.main(["spack", "machine"]) == 0
    said = capsys.readouterr().out
    assert "mpich@5.0.2: wheel mpich-5.0.2" in said
    assert "intel-oneapi-mpi-2021.18.1: is to be made (3 links, 1 files)" in said
    assert f"{file_of(two_mpis)}: is to be written" in said
    assert "so that Spack finds or builds them: gcc, cmake, gmake, ninja, pkgconf\n" in said
    assert "nothing was written" in said
    assert not (two_mpis / "spack").exists()
    assert not (two_mpis / "build/spack").exists()


def test_what_is_written_passes_its_own_check_and_stands_the_next_time(two_mpis, capsys):
    assert cli.main(["spack", "machine", "--write"]) == 0
    document = yaml.safe_load(file_of(two_mpis).read_text())
    specs = ["intel-oneapi-mpi@2021.18.1+generic-names", "mpich@5.0.2"]
    assert document["definitions:"] == [{"mpis": specs}]  # two colons: instead of the portable
    assert document["packages"]["mpich"]["buildable"] is False
    assert spack_machine.check(file_of(two_mpis)) == []
    capsys.readouterr()
    cli.main(["spack", "machine"])
    said = capsys.readouterr().out
    assert f"{file_of(two_mpis)}: unchanged" in said
    assert "is to be" not in said


def test_what_is_lost_from_a_file_that_stands_is_shown_first(two_mpis, capsys):
    cli.main(["spack", "machine", "--write"])
    with file_of(two_mpis).open("a") as stream:
        stream.write("# mine\n")
    capsys.readouterr()
    cli.main(["spack", "machine"])
    said = capsys.readouterr().out
    assert "is to be replaced" in said
    assert "  -# mine" in said


def test_a_damaged_prefix_is_made_anew(two_mpis):
    cli.main(["spack", "machine", "--write"])
    folder = two_mpis / "build/spack/externals/intel-oneapi-mpi-2021.18.1/mpi/2021.18"
    (folder / "bin").unlink()
    (folder / "stale").touch()
    cli.main(["spack", "machine", "--write"])
    assert (folder / "bin/mpicc").is_file()
    assert not (folder / "stale").exists()


def test_a_machine_without_mpi_is_one_line(machine, capsys):
    provide_wheel(machine, "mpich-5.0.2", "", status="unavailable", reason="no network")
    assert cli.main(["spack", "machine", "--write"]) == 1
    said = capsys.readouterr().err
    assert said == (
        "onesided: found no MPI for Spack on this machine (wheel mpich-5.0.2: no network)\n"
    )
    assert not file_of(machine).exists()


def test_a_name_that_is_no_file_name_is_refused(two_mpis, capsys):
    assert cli.main(["spack", "machine", "--name", "../mine"]) == 2
    assert "--name: found '../mine'" in capsys.readouterr().err


def test_the_tools_of_this_machine_are_external():
    found = plan.externals()
    assert {"gcc", "cmake", "ninja", "python"} <= set(found) <= set(plan.WANTED)
    compiler = found["gcc"]["extra_attributes"]["compilers"]["c"]
    assert compiler == str(Path(found["gcc"]["prefix"]) / "bin/gcc")
    for package in ("cmake", "ninja"):
        assert (Path(found[package]["prefix"]) / "bin" / package).is_file()


def test_another_compiler_by_the_name_of_gcc_is_none(tmp_path, monkeypatch):
    (tmp_path / "gcc").write_text("#!/bin/sh\necho Some clang >&2; exit 1\n")
    (tmp_path / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert plan.gcc() is None


def fake_spack(machine, monkeypatch, script):
    program = machine / "spack-of-a-user/bin/spack"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("SPACK_ROOT", str(program.parents[1]))
    monkeypatch.setattr(shutil, "which", lambda name, **_: program if name == "spack" else None)
    needed = {name: {"spec": f"{name}@1", "prefix": "/"} for name in plan.NEEDED}
    monkeypatch.setattr(plan, "externals", lambda: needed)


def test_without_spack_the_machine_file_is_written_and_the_lean_one_is_not(two_mpis, capsys):
    assert cli.main(["spack", "machine", "--write"]) == 0
    assert "no lean file: no Spack in " in capsys.readouterr().out
    assert [path.name for path in file_of(two_mpis).parent.iterdir()] == ["local.yaml"]


def test_without_cmake_there_is_no_lean_file_for_spack_has_to_build_it(
    two_mpis, monkeypatch, capsys
):
    fake_spack(two_mpis, monkeypatch, "echo 'ONESIDED [\"hwloc\"]'")
    monkeypatch.setattr(plan, "externals", lambda: {"gcc": {"spec": "gcc@1", "prefix": "/"}})
    assert cli.main(["spack", "machine", "--write"]) == 0
    assert "no lean file: Spack has to find or build cmake" in capsys.readouterr().out
    assert not file_of(two_mpis, "local.lean").exists()


def test_a_cmake_that_reads_no_script_from_a_pipe_is_found(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "cmake"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ -f "$2" ] || exit 1\necho "-- 3.25.1 $0"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert plan.cmake() == {"spec": "cmake@3.25.1", "prefix": str(tmp_path)}


def test_with_spack_the_lean_file_lists_what_is_not_to_be_built(two_mpis, monkeypatch):
    answer = 'echo "==> a warning"; echo \'ONESIDED ["hwloc", "mpich", "yaksa"]\''
    fake_spack(two_mpis, monkeypatch, answer)
    assert cli.main(["spack", "machine", "--write"]) == 0
    document = yaml.safe_load(file_of(two_mpis, "local.lean").read_text())
    assert document["concretizer"] == {"static_analysis": True}
    # mpich has an external
    assert document["packages"] == {name: {"buildable": False} for name in ("hwloc", "yaksa")}


def test_a_spack_that_does_not_answer_is_one_line_and_nothing_is_written(
    two_mpis, monkeypatch, capsys
):
    fake_spack(two_mpis, monkeypatch, "echo no such package >&2; exit 3")
    assert cli.main(["spack", "machine", "--write"]) == 1
    said = capsys.readouterr().err
    assert "exit 3: no such package" in said
    assert said.count("\n") == 1
    assert not file_of(two_mpis).exists()


def test_a_real_spack_names_the_dependencies_of_mpich_and_what_could_stand_in_for_it():
    program = spack.find()
    if program is None:
        pytest.skip(f"no Spack in {spack.where_it_was_looked_for()}")
    found = plan.not_to_build(program, ["mpich", "libfabric"])
    assert {"hwloc", "yaksa", "mvapich2", "llvm", "pkg-config"} <= set(found)
    # packages with an external, and virtual packages, for which the providers count
    assert not {"mpich", "libfabric", "c", "mpi", "pkgconfig"} & set(found)
    with pytest.raises(OnesidedError, match=r"no.such.package"):
        plan.not_to_build(program, ["no-such-package"])
