"""What `onesided spack check` refuses."""

import shutil
from pathlib import Path

import pytest

from onesided import cli
from onesided.environments import spack_machine

from .conftest import SAYS, fault_of, file_of, make_mpi


@pytest.mark.parametrize("prefix", ["/usr", "/usr/", "/usr/bin/..", "/"])
def test_an_mpi_in_usr_is_refused_with_an_explanation(written, machine, capsys, prefix):
    path = written(str(machine / "build/environments/mpich-5.0.2/prefix"), prefix)
    said = fault_of(path)
    assert f"packages.mpich.externals.0.prefix: found {Path(prefix)} for mpich@5.0.2" in said
    assert "Spack takes its bin/mpicc for each of them" in said
    assert cli.main(["spack", "check", str(path)]) == 2
    assert capsys.readouterr().err == f"onesided: {said}\n"


def test_a_list_of_mpis_that_adds_to_the_portable_ones_is_checked_too(written):
    assert spack_machine.check(written("definitions::", "definitions:")) == []
    assert "expected one of its externals" in fault_of(written("mpich@5.0.2]", "mpich@5.0.3]"))


def test_a_tool_in_usr_is_all_right(written):
    path = written("packages:", "packages:\n  zlib: {externals: [{spec: zlib@1.3, prefix: /usr}]}")
    assert spack_machine.check(path) == []


def test_an_external_that_is_not_there_is_refused(written, machine):
    shutil.rmtree(machine / "build/environments/mpich-5.0.2")
    said = fault_of(file_of(machine))
    assert "packages.mpich.externals.0.prefix: found nothing there; expected a folder /" in said


def test_an_external_that_links_another_mpi_is_refused_with_both_names(written, machine):
    make_mpi(machine / "build/environments/mpich-5.0.2/prefix", "Open MPI v5.0.2")
    said = fault_of(file_of(machine))
    assert "found openmpi@5.0.2; expected mpich@5.0.2 as the library that " in said


def test_an_external_of_another_version_is_refused(written, machine):
    make_mpi(machine / "build/environments/mpich-5.0.2/prefix", SAYS["mpich@4.0.2"])
    assert "found mpich@4.0.2; expected mpich@5.0.2" in fault_of(file_of(machine))


def test_an_external_whose_wrapper_does_not_compile_is_refused(written, machine):
    (machine / "build/environments/mpich-5.0.2/prefix/bin/mpicc").unlink()
    assert "cannot be started: No such file" in fault_of(file_of(machine))


def test_an_mpi_of_which_only_modules_are_named_is_not_asked(written, machine):
    prefix = machine / "build/environments/mpich-5.0.2/prefix"
    path = written(f"prefix: {prefix}", "modules: [mpich/5]")
    assert spack_machine.check(path) == ["mpich@5.0.2"]


def test_modules_of_an_external_are_loaded_before_it_is_asked(written, machine, module_tree):
    prefix = machine / "build/environments/mpich-5.0.2/prefix"
    module_tree("licence/1", "setenv LICENCE yes")
    needs = 'test "$LICENCE" = yes || { echo no licence >&2; exit 1; }'
    make_mpi(prefix, SAYS["mpich@5.0.2"], before=needs)
    assert "no licence" in fault_of(file_of(machine))
    path = written(f"prefix: {prefix}", f"prefix: {prefix}, modules: [licence/1]")
    assert spack_machine.check(path) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("packages:", "packagez:", "a section of Spack's configuration"),
        ("mpis: [", "mpiz: [", "with one of mpis"),
        ("definitions::", "define:", "a section of Spack's configuration"),
        ("definitions::", "mirrors:", "with mpis in it"),
        (", mpich@5.0.2]", ", mpich]", "a spec with its version"),
        (", mpich@5.0.2]", ", mpich@5.0.3]", "one of its externals (mpich@5.0.2)"),
        ("spec: mpich@5.0.2", "spec: mpich", "a spec with its version"),
        ("spec: mpich@5.0.2", "spec: openmpi@5.0.2", "a spec of mpich"),
        ("spec: mpich@5.0.2", "spec: mpich@5.0.2, colour: red", "colour"),
        ("prefix: /", "prefix: ~/", "an absolute path"),
        ("buildable: false", "buildable: 0", "true or false"),
    ],
)
def test_a_fault_in_the_file_is_one_line_that_names_what_was_expected(written, old, new, said):
    assert said in fault_of(written(old, new))
