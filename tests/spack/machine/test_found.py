"""What `onesided spack machine` finds: wheels, MPIs of Debian, and modules."""

import os
from pathlib import Path

import pytest

from onesided.environments import identity
from onesided.environments.spack_machine import find
from onesided.system import paths

from .conftest import SAYS, make_mpi, provide_wheel, sourced


@pytest.mark.parametrize("spec", SAYS)
def test_an_mpi_is_known_by_what_its_library_says(tmp_path, spec):
    found = identity.identify(
        make_mpi(tmp_path, SAYS[spec], wrapper="bin/a-name-that-says-nothing")
    )
    assert str(found) == spec
    assert found.library == tmp_path / "lib/libmpi.so.12"


@pytest.mark.parametrize(
    ("text", "before", "said"),
    [
        ("SuperMPI 1.0", "", "an MPI unknown here: 'SuperMPI 1.0'"),
        ("", "echo no licence >&2; exit 7", "exit 7: no licence"),
    ],
)
def test_an_mpi_that_cannot_be_asked_is_one_line(tmp_path, text, before, said):
    with pytest.raises(identity.UnknownMpiError) as caught:
        identity.identify(make_mpi(tmp_path, text, before=before))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_foreign_library_path_does_not_answer_for_the_wrapper(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/foreign")
    refuses = 'if [ -n "$LD_LIBRARY_PATH" ]; then echo "$LD_LIBRARY_PATH" >&2; exit 1; fi'
    wrapper = make_mpi(tmp_path, SAYS["mpich@5.0.2"], before=refuses)
    assert str(identity.identify(wrapper)) == "mpich@5.0.2"
    with pytest.raises(identity.UnknownMpiError, match="/wanted"):
        identity.identify(wrapper, {"LD_LIBRARY_PATH": "/wanted"})


@pytest.mark.parametrize(
    ("own", "wanted", "same"),
    [
        ("5.0.1", "5.0.11", False),
        ("5.0.11", "5.0.11", True),
        ("2021.18", "2021.18.1", True),
        ("2021.18", "2021.17.1", False),
    ],
)
def test_versions_are_compared_number_by_number(own, wanted, same):
    assert identity.Identity("x", own, Path()).is_version(wanted) is same


@pytest.mark.parametrize(
    ("version", "folder"), [("2021.18.1", "mpi/2021.18"), ("2021.9.0", "mpi/2021.9.0")]
)
def test_intels_folder_is_the_one_its_installer_makes(version, folder):
    found = identity.component("intel-oneapi-mpi", version, Path("/opt"))
    assert found == Path("/opt") / folder


def test_a_wheel_is_given_to_spack_as_it_stands(machine):
    prefix = provide_wheel(machine, "mpich-5.0.2", SAYS["mpich@5.0.2"])
    [found] = find.wheels()
    assert (found.spec, found.prefix, found.links) == ("mpich@5.0.2", prefix, {})


def test_a_wheel_that_links_another_mpi_of_that_version_is_left_out(machine):
    provide_wheel(machine, "mpich-5.0.2", "Open MPI v5.0.2")
    [found] = find.wheels()
    assert found.reason == "its mpicc links openmpi@5.0.2"


def test_a_wheel_of_another_version_is_left_out(machine):
    provide_wheel(machine, "mpich-5.0.2", SAYS["mpich@4.0.2"])
    [found] = find.wheels()
    assert found.reason == "its mpicc links mpich@4.0.2"


def test_a_wheel_that_links_outside_its_prefix_is_left_out(machine):
    prefix = provide_wheel(machine, "mpich-5.0.2", "")
    make_mpi(prefix, SAYS["mpich@5.0.2"], library="../elsewhere/libmpi.so.12")
    [found] = find.wheels()
    assert "elsewhere/libmpi.so.12, outside its prefix" in found.reason


def test_an_unavailable_an_unknown_and_a_cut_environment_are_left_out_with_the_reason(machine):
    provide_wheel(machine, "mpich-5.0.2", "", status="unavailable", reason="no network")
    provide_wheel(machine, "lam-7.1", "", family="mpich")
    provide_wheel(machine, "openmpi-5.0.11", "")
    paths.environment_file("openmpi-5.0.11").write_text("{")
    found = {one.origin: one.reason for one in find.wheels()}
    assert found["wheel mpich-5.0.2"] == "no network"
    assert found["wheel lam-7.1"] == "not in config/environments.yaml"
    assert "expected a whole JSON document" in found["wheel openmpi-5.0.11"]


def test_intels_wheel_gets_the_layout_and_the_file_that_spacks_package_wants(machine):
    prefix = provide_wheel(machine, "impi-2021.18.1", SAYS["intel-oneapi-mpi@2021.18.1"])
    [found] = find.wheels()
    folder = machine / "build/spack/externals/intel-oneapi-mpi-2021.18.1/mpi/2021.18"
    assert found.spec == "intel-oneapi-mpi@2021.18.1+generic-names"
    assert found.links == {folder / name: prefix / name for name in ("bin", "include", "lib")}
    variables = sourced(found.files[folder / "env/vars.sh"], {"LD_LIBRARY_PATH": "/before"})
    assert variables["I_MPI_ROOT"] == str(folder)
    assert variables["PATH"].startswith(f"{folder}/bin:")
    assert variables["LD_LIBRARY_PATH"].split(":")[0] == f"{folder}/lib"
    assert variables["LD_LIBRARY_PATH"].endswith(":/before")


def test_each_of_debians_mpis_gets_a_prefix_with_its_own_programs_and_libraries(debian, machine):
    mpich, openmpi = find.debian()
    assert (mpich.spec, mpich.variants) == ("mpich@4.0.2", " netmod=ucx")
    assert (openmpi.spec, openmpi.variants) == ("openmpi@5.0.11", "")
    assert targets(mpich) == {
        "bin/hydra_pmi_proxy": debian / "bin/hydra_pmi_proxy",
        "bin/mpicc": debian / "bin/mpicc.mpich",
        "bin/mpiexec": debian / "bin/mpiexec.mpich",
        "include": debian / "include",
        "lib/libmpi.so": debian / "lib/libmpich.so.12",  # not the shared folder's libmpi.so
        "lib/libmpich.so.12": debian / "lib/libmpich.so.12",
    }
    assert targets(openmpi) == {
        "bin/mpicc": debian / "bin/mpicc.openmpi",
        "bin/mpiexec": debian / "bin/mpiexec.openmpi",
        "bin/orted": debian / "bin/orted",
        "include": debian / "include",
        "lib/libmpi.so": debian / "lib/libmpi.so.40",
        "lib/libmpi.so.40": debian / "lib/libmpi.so.40",
    }


def targets(mpi):
    return {str(link.relative_to(mpi.prefix)): target for link, target in mpi.links.items()}


def test_the_name_of_debians_wrapper_is_not_trusted(debian):
    make_mpi(debian, SAYS["openmpi@5.0.11"], wrapper="bin/mpicc.mpich", library="lib/libmpi.so.40")
    found = list(find.debian())
    assert {one.spec for one in found} == {"openmpi@5.0.11"}


def test_an_mpi_with_openshmem_says_so_for_the_recipe_asks_for_it(debian):
    (debian / "bin/oshcc").touch()
    assert [one.variants for one in find.debian()] == [" netmod=ucx", "+openshmem"]


def test_of_two_mpis_of_one_spec_the_second_is_left_out(debian, machine):
    provide_wheel(machine, "openmpi-5.0.11", SAYS["openmpi@5.0.11"])
    found = list(find.all_mpis())
    assert [one.spec for one in found[:2]] == ["openmpi@5.0.11", "mpich@4.0.2"]
    assert found[2].origin == "Debian's mpicc.openmpi"
    assert found[2].reason == "openmpi@5.0.11 again, as wheel openmpi-5.0.11"


def test_a_module_that_brings_an_mpi_is_given_to_spack_with_its_name(module_tree, tmp_path):
    make_mpi(tmp_path / "opt", SAYS["mpich@4.0.2"])
    module_tree("mpich/4.0", f"prepend-path PATH {tmp_path}/opt/bin")
    [found] = find.of_modules()
    assert (found.spec, found.prefix) == ("mpich@4.0.2", tmp_path / "opt")
    assert (found.modules, found.links) == (("mpich/4.0",), {})


def test_a_module_that_is_loaded_already_is_found_too(module_tree, tmp_path, monkeypatch):
    make_mpi(tmp_path / "opt", SAYS["mpich@4.0.2"])
    module_tree("mpich/4.0", f"prepend-path PATH {tmp_path}/opt/bin")
    for name, text in find.module_variables("mpich/4.0").items():
        monkeypatch.setenv(name, text)
    assert [one.spec for one in find.of_modules()] == ["mpich@4.0.2"]


def test_intels_module_is_given_by_the_folder_above_its_component(module_tree, tmp_path):
    root = tmp_path / "oneapi/mpi/2021.18"
    make_mpi(root, SAYS["intel-oneapi-mpi@2021.18.1"])
    module_tree("impi/2021", f"prepend-path PATH {root}/bin")
    [found] = find.of_modules()
    assert (found.prefix, found.links) == (tmp_path / "oneapi", {})


def test_modules_that_bring_no_mpi_are_left_out_with_the_reason(module_tree, tmp_path, monkeypatch):
    (tmp_path / "usual").mkdir()
    make_mpi(tmp_path / "usual", SAYS["mpich@4.0.2"])
    monkeypatch.setenv("PATH", f"{tmp_path}/usual/bin", prepend=os.pathsep)
    module_tree("openmpi/empty", "setenv A b")
    module_tree("openmpi/broken", "error {out of order}")
    module_tree("zlib/1.3", "setenv A b")
    found = {one.origin: one.reason for one in find.of_modules()}
    assert set(found) == {"module openmpi/empty", "module openmpi/broken"}
    assert "as without the module" in found["module openmpi/empty"]
    assert "out of order" in found["module openmpi/broken"]


def test_a_module_whose_mpicc_stands_in_usr_is_left_out(module_tree, tmp_path, monkeypatch):
    if not Path("/usr/bin/mpicc").exists():
        pytest.skip("no MPI of the distribution is installed")
    (tmp_path / "opt").symlink_to("/usr")
    module_tree("openmpi/usual", f"prepend-path PATH {tmp_path}/opt/bin")
    [found] = find.of_modules()
    assert found.reason.endswith("in a folder that other MPIs share")
