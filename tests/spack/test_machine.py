"""What `onesided spack machine` finds and writes, and what `onesided spack check` refuses.

Most MPIs here are a compiler wrapper of a few lines, which reports about its library what a test
needs.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from onesided import cli
from onesided.environments import identity, spack_machine
from onesided.environments.providers import spack
from onesided.environments.spack_machine import find, plan
from onesided.system import documents, paths
from onesided.system.errors import InputError, OnesidedError

CHECKOUT = Path(__file__).resolve().parents[2]
SAYS = {
    "mpich@5.0.2": "MPICH Version:      5.0.2\nMPICH Device:       ch4:ucx ofi",
    "mpich@4.0.2": "MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx",
    "openmpi@5.0.11": "Open MPI v5.0.11, package: Open MPI user@localhost, ident: 5.0.11",
    "intel-oneapi-mpi@2021.18.1": "Intel(R) MPI Library 2021.18.1 for Linux* OS",
    "mvapich@4.1": "MVAPICH Version      : 4.1\nMVAPICH Release date : never",
    "mvapich2@2.3.7": "MVAPICH2 Version      : 2.3.7\nMVAPICH2 Device: ch3:mrail",
    "cray-mpich@8.1.29.28": "MPI VERSION    : CRAY MPICH version 8.1.29.28 (ANL base 3.4a2)",
}
COMPILES = """#!/bin/sh
if [ "$1" = -show ]; then echo "cc -I/nowhere -I{include} -lmpi"; exit 0; fi
{before}
while [ "$1" != -o ]; do shift; done
cat > "$2" <<'END'
#!/bin/sh
cat <<'SAID'
{library}
{text}
SAID
END
chmod +x "$2"
"""
MODULES_HOMES = (os.environ.get("MODULESHOME"), "/usr/share/modules", "/usr/share/lmod/lmod")


def make_mpi(root, text, *, wrapper="bin/mpicc", library="lib/libmpi.so.12", before=""):
    """Make a wrapper, its library and its headers below a folder; return the wrapper."""
    for name in (wrapper, library, "include/mpi.h"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    script = COMPILES.format(
        include=root / "include", library=root / library, text=text, before=before
    )
    (root / wrapper).write_text(script)
    (root / wrapper).chmod(0o755)
    return root / wrapper


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A checkout with the project's configuration on a machine with no MPI, modules or Spack."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    for name in ("MODULESHOME", "SPACK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name, **found: None)
    shutil.copytree(CHECKOUT / "config", tmp_path / "config")
    return tmp_path


def provide_wheel(machine, name, text, **changes):
    """Pretend that an environment was provided; return its prefix."""
    family = name.split("-")[0]
    prefix = machine / "build/environments" / name / "prefix"
    wrapper = make_mpi(prefix, text)
    # files that the machine file does not read may stay empty
    document = dict.fromkeys(documents.load_schema("environment")["required"]) | {
        "schema": "onesided/environment/1",
        "name": name,
        "provider": "wheel",
        "family": family,
        "library": "MPI",
        "version": name.split("-")[1],
        "status": "ready",
        "reason": None,
        "prefix": str(prefix),
        "compilers": {"c": str(wrapper)},
        "launcher": {"path": "/x", "placement": {"unbound": [], "core": []}, "oversubscribe": []},
        "variables": {},
        "features": [],
        "library_version": "x",
        "library_version_pattern": "x",
        "standard_version": "4.1",
        "thread_level_provided": "multiple",
        "left_behind": [],
        "left_behind_temporary": [],
        "launch_model": "native",
        "declaration_digest": "0" * 64,
        **changes,
    }
    paths.environment_file(name).write_text(json.dumps(document))
    return prefix


# ---- Which MPI is it? ----


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


# ---- Wheels ----


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


def sourced(script, given):
    """Return the variables of a shell after reading a script."""
    outcome = subprocess.run(
        ["/bin/sh", "-c", f"{script}\nexec /usr/bin/env -0"],
        env={"PATH": "/usr/bin:/bin", **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split("=", 1) for line in outcome.stdout.split("\0") if line)


# ---- Debian ----


@pytest.fixture
def debian(machine, monkeypatch):
    """A /usr that two MPIs share, as on Debian."""
    usr = machine / "usr"
    for suffix, spec, library in (
        ("mpich", "mpich@4.0.2", "libmpich.so.12"),
        ("openmpi", "openmpi@5.0.11", "libmpi.so.40"),
    ):
        make_mpi(usr, SAYS[spec], wrapper=f"bin/mpicc.{suffix}", library=f"lib/{library}")
        (usr / f"bin/mpiexec.{suffix}").touch()
    for name in ("bin/hydra_pmi_proxy", "bin/orted", "bin/mpicc", "lib/libmpi.so"):
        (usr / name).touch()
    monkeypatch.setattr(shutil, "which", lambda name, **_: on_path(usr / "bin" / name))
    return usr


def on_path(program):
    return str(program) if program.exists() else None


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


# ---- Environment modules ----


@pytest.fixture
def module_tree(tmp_path, monkeypatch):
    """Return a function that adds a modulefile to a real tree of modules, if modules exist here."""
    homes = [home for home in MODULES_HOMES if home and (Path(home) / "init/bash").is_file()]
    if not homes:
        pytest.skip("environment modules are not installed")
    monkeypatch.setenv("MODULESHOME", homes[0])
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modulefiles"))
    monkeypatch.delenv("LOADEDMODULES", raising=False)

    def add(name, text):
        path = tmp_path / "modulefiles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#%Module1.0\n{text}\n")

    return add


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


# ---- What is written ----


@pytest.fixture
def two_mpis(machine):
    provide_wheel(machine, "mpich-5.0.2", SAYS["mpich@5.0.2"])
    provide_wheel(machine, "impi-2021.18.1", SAYS["intel-oneapi-mpi@2021.18.1"])
    return machine


def file_of(machine, name="local"):
    return machine / "spack/machines" / f"{name}.yaml"


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


# ---- Lean concretisation ----


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


# ---- What is refused ----


@pytest.fixture
def written(two_mpis):
    """A valid machine file; returns a function that changes and checks the file."""
    cli.main(["spack", "machine", "--write"])
    path = file_of(two_mpis)

    def change(old, new):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return path

    return change


def fault_of(path):
    with pytest.raises(InputError) as caught:
        spack_machine.check(path)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


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


# ---- The real thing ----

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
