"""`provider: system`: an MPI of the machine, found by its wrapper or its folder.

Debian's MPIs are real. The others are a wrapper of a few lines, which reports what a test needs,
and a launcher that starts its arguments.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from fake_mpi import CHECKOUT, MPICH, put_mpi, script

from onesided import cli
from onesided.campaign import campaign
from onesided.environments import provision
from onesided.system import paths
from onesided.system.command import one_line
from onesided.system.errors import InputError

DEBIAN = {"mpich-debian": "mpich", "openmpi-debian": "openmpi"}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a function that puts an MPI with the given words about itself into a folder."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    (tmp_path / "config").mkdir()
    for name in ("environments.yaml", "wheels.lock", "settings.yaml", "variables.yaml"):
        shutil.copy(CHECKOUT / "config" / name, tmp_path / "config")

    def put(folder="opt", **found):
        return put_mpi(tmp_path / folder, **found)

    put.config = tmp_path / "config"
    return put


def declare(site, name="mine", **entry):
    """Declare an MPI of the machine in addition to the project's; return the result."""
    path = site.config / "environments.yaml"
    document = yaml.safe_load(path.read_text())
    document["environments"][name] = {"provider": "system", **entry}
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return provision.provide(name)


# ---- What is found ----


def test_the_path_of_a_wrapper_is_all_that_is_asked_for(site):
    wrapper = site()
    document = declare(site, compiler=str(wrapper))
    assert (document["status"], document["reason"]) == ("ready", None)
    assert (document["family"], document["version"]) == ("mpich", "4.0.2")
    assert document["compilers"] == {"c": str(wrapper)}
    assert document["prefix"] == str(wrapper.parents[1])
    assert document["provider"] == "system"
    assert provision.read("mine") == document


def test_a_program_on_path_is_told_by_its_name_and_its_launcher_by_the_suffix(site, monkeypatch):
    wrapper = site(suffix=".quick")
    script(wrapper.with_name("mpiexec"), "#!/bin/sh\nexit 9\n")
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    document = declare(site, compiler="mpicc.quick")
    assert document["compilers"] == {"c": str(wrapper)}
    # a check calls `mpiexec`, in a folder with no other program
    launcher = Path(document["launcher"]["path"])
    assert launcher.name == "mpiexec"
    assert [path.name for path in launcher.parent.iterdir()] == ["mpiexec"]
    said = subprocess.run([launcher, "-n", "1", "echo", "it ran"], capture_output=True, text=True)
    assert said.stdout == "it ran\n"


def test_a_prefix_serves_as_well(site):
    wrapper = site("a folder/with blanks")
    document = declare(site, prefix=str(wrapper.parents[1]))
    assert (document["status"], document["compilers"]) == ("ready", {"c": str(wrapper)})


def test_what_a_loaded_module_sets_is_kept_where_the_mpi_does_not_start_without(
    site, monkeypatch, tmp_path
):
    needs = f'test "$LD_LIBRARY_PATH" = {tmp_path} || exit 1'
    wrapper = site(needs=needs)
    assert "identify: exit 1" in declare(site, compiler=str(wrapper))["reason"]
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert provision.provide("mine")["variables"] == {"LD_LIBRARY_PATH": str(tmp_path)}


def test_a_relative_of_a_family_is_of_the_one_that_is_declared(site):
    wrapper = site(text="MPI VERSION    : CRAY MPICH version 8.1.29.28 (ANL base 3.4a2)")
    reason = declare(site, compiler=str(wrapper))["reason"]
    assert "links cray-mpich@8.1.29.28, of no family here" in reason
    document = declare(site, compiler=str(wrapper), family="mpich")
    assert (document["status"], document["version"]) == ("ready", "8.1.29.28")


# ---- What changes ----


def test_an_upgrade_of_the_machine_is_another_environment(site):
    wrapper = site()
    first = declare(site, compiler=str(wrapper))
    assert provision.provide("mine") == first
    site(text=MPICH.replace("4.0.2", "4.0.3"))
    second = provision.provide("mine")
    assert (first["version"], second["version"]) == ("4.0.2", "4.0.3")
    assert first["declaration_digest"] != second["declaration_digest"]


@pytest.mark.parametrize("name", ["lib/libmpi.so.12", "bin/mpicc", "bin/mpiexec"])
def test_a_file_that_was_replaced_makes_it_another_environment_too(site, name):
    wrapper = site()
    first = declare(site, compiler=str(wrapper))
    os.utime(wrapper.parents[1] / name, (1, 1))
    second = provision.provide("mine")
    assert second == {**first, "declaration_digest": second["declaration_digest"]}
    assert second["declaration_digest"] != first["declaration_digest"]


def test_a_declared_version_is_demanded(site):
    wrapper = site(text=MPICH.replace("4.0.2", "4.0.3"))
    assert declare(site, compiler=str(wrapper), version="4.0")["status"] == "ready"
    reason = declare(site, compiler=str(wrapper), version="4.0.2")["reason"]
    library = wrapper.parents[1] / "lib/libmpi.so.12"
    assert reason == f"{wrapper} links mpich@4.0.3 ({library}); 4.0.2 is declared"


# ---- What is refused ----


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "environments.mine: found {'provider': 'system'}; expected either prefix, the MPI's"),
        (
            {"prefix": "/opt", "compiler": "mpicc"},
            "expected either prefix, the MPI's folder, or compiler, its wrapper",
        ),
        ({"prefix": "/usr"}, "mine.prefix: found '/usr'; expected compiler, such as mpicc.mpich"),
        ({"prefix": "opt"}, "mine.prefix: found 'opt'; expected the absolute path of a folder"),
        ({"compiler": "bin/mpicc"}, "expected an absolute path, or the name of a program on PATH"),
        ({"compiler": "mpicc", "packages": ["mpich"]}, "mine.packages: found an unknown key"),
        ({"compiler": "mpicc", "version": 4.1}, "mine.version: found 4.1; expected a version in"),
        ({"compiler": "mpicc", "family": "lam"}, "mine.family: found 'lam'; expected one of mpich"),
    ],
)
def test_a_fault_in_the_declaration_is_one_line(site, entry, said):
    with pytest.raises(InputError) as caught:
        declare(site, **entry)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not paths.environments_dir().exists()


def test_nothing_can_be_locked(site, capsys):
    assert cli.main(["environments", "lock", "mpich-debian"]) == 2
    assert "NAME: found mpich-debian; expected one of mpich-5.0.2, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "entry", "said"),
    [
        ({}, {"compiler": "/not/there"}, "found no program /not/there"),
        ({}, {"compiler": "mpicc.nowhere"}, "found no program mpicc.nowhere on PATH"),
        ({}, {"prefix": "/not/there"}, "found no program /not/there/bin/mpicc"),
        ({"text": "SuperMPI 1.0"}, {}, "an MPI unknown here: 'SuperMPI 1.0'"),
        ({}, {"family": "openmpi"}, "links mpich@4.0.2; openmpi is declared"),
        ({"before": "echo no licence >&2; exit 7"}, {}, "exit 7: no licence"),
        ({"ranks": 1}, {}, "mpiexec made worlds of 1, not of 2: is it the launcher of /"),
        ({"library_path": "/lib/libother.so"}, {}, "another MPI ran: /usr/lib/libother.so, not /"),
        ({"library_version": "MPICH Version: 4.0.20"}, {}, "another version ran"),
    ],
)
def test_an_mpi_that_is_not_what_was_declared_is_unavailable_with_the_reason(
    site, made, entry, said
):
    wrapper = site(**made)
    where = {} if {"prefix", "compiler"} & set(entry) else {"compiler": str(wrapper)}
    document = declare(site, **where, **entry)
    assert document["status"] == "unavailable"
    assert said in document["reason"]
    assert provision.read("mine") == document


def test_a_prefix_whose_wrapper_links_an_mpi_elsewhere_is_refused(site, tmp_path):
    other = tmp_path / "other/libmpi.so.12"
    wrapper = site(library=other)
    reason = declare(site, prefix=str(wrapper.parents[1]))["reason"]
    assert reason == one_line(f"{wrapper} links {other}, outside {wrapper.parents[1]}")


def test_a_link_to_a_folder_that_mpis_share_is_refused(site, tmp_path):
    (tmp_path / "mine").symlink_to("/usr")
    reason = declare(site, prefix=str(tmp_path / "mine"))["reason"]
    assert reason == f"several MPIs can be in {tmp_path}/mine; `compiler:` names one"


def test_a_wrapper_with_no_launcher_beside_it_asks_for_one(site):
    wrapper = site()
    launcher = wrapper.with_name("mpiexec").rename(wrapper.with_name("startmpi"))
    reason = declare(site, compiler=str(wrapper))["reason"]
    assert f"found no mpiexec and no mpirun beside {wrapper}: `launcher:` names one" in reason
    assert declare(site, compiler=str(wrapper), launcher=str(launcher))["status"] == "ready"


def test_one_that_is_not_on_this_machine_stops_no_other(site, capsys):
    path = site.config / "environments.yaml"
    document = yaml.safe_load(path.read_text())
    here = {"provider": "system", "compiler": str(site())}
    document["environments"] = {
        "elsewhere": {"provider": "system", "compiler": "mpicc.nowhere"}, "mine": here,
    }  # fmt: skip
    del document["containers"]
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    found = provision.provide_all()
    assert [one["status"] for one in found] == ["unavailable", "ready"]
    assert (found[0]["family"], found[0]["version"]) == (None, None)
    # no machine has every MPI; an MPI requested by name must exist
    assert cli.main(["environments"]) == 0
    assert cli.main(["environments", "elsewhere"]) == 1
    assert "found no program mpicc.nowhere on PATH" in capsys.readouterr().err


# ---- The real thing ----


@pytest.fixture(params=DEBIAN)
def debian(request, tmp_path, monkeypatch):
    """Return the document of one of Debian's MPIs, declared as in config/environments.yaml."""
    suffix = DEBIAN[request.param]
    if shutil.which(f"mpicc.{suffix}") is None:
        pytest.skip(f"Debian's {suffix} is not installed")
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    document = provision.provide(request.param)
    assert document["status"] == "ready", document["reason"]
    return document


def test_debians_mpi_is_the_one_of_its_package(debian):
    suffix = DEBIAN[debian["name"]]
    assert debian["compilers"] == {"c": f"/usr/bin/mpicc.{suffix}"}
    program = {"mpich": "mpichversion", "openmpi": "ompi_info"}[suffix]
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert debian["version"] in said


def test_a_check_finds_debians_launcher_on_the_path_of_its_environment(debian, tmp_path):
    folder = Path(debian["launcher"]["path"]).parent
    # ReFrame calls `mpiexec`, wherever /usr/bin/mpiexec leads
    subprocess.run(
        ["mpiexec", *debian["launcher"]["placement"]["unbound"], "-n", "2",
         paths.environments_dir() / debian["name"] / "probe/probe", tmp_path / "findings.json"],
        env={**os.environ, **debian["variables"], "PATH": f"{folder}:{os.environ['PATH']}",
             "OMPI_MCA_rmaps_base_oversubscribe": "1"},
        check=True,
        timeout=60,
    )  # fmt: skip
    found = json.loads((tmp_path / "findings.json").read_text())
    assert (found["ranks"], found["errors"]) == (2, 0)
    assert debian["version"] in found["library_version"]


def test_the_launcher_of_debians_other_mpi_is_refused(debian, site, monkeypatch):
    other = {"mpich": "openmpi", "openmpi": "mpich"}[debian["family"]]
    if shutil.which(f"mpiexec.{other}") is None:
        pytest.skip(f"Debian's {other} is not installed")
    entry = {"compiler": f"mpicc.{debian['family']}", "launcher": f"mpiexec.{other}"}
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(variable, "1")
    reason = declare(site, **entry)["reason"]
    said = f"mpiexec.{other} made worlds of 1, not of 2: is it the launcher of /usr/lib/"
    assert reason.startswith(said)


def test_the_name_of_a_wrapper_proves_nothing(debian, site, tmp_path):
    other = {"mpich": "openmpi", "openmpi": "mpich"}[debian["family"]]
    liar = tmp_path / f"mpicc.{other}"
    script(liar, f'#!/bin/sh\nexec {debian["compilers"]["c"]} "$@"\n')
    launcher = f"mpiexec.{debian['family']}"
    document = declare(site, compiler=str(liar), launcher=launcher)
    assert (document["family"], document["version"]) == (debian["family"], debian["version"])
    reason = declare(site, compiler=str(liar), launcher=launcher, family=other)["reason"]
    found = f"{debian['family']}@{debian['version']}"
    assert reason == f"{liar} links {found}; {other} is declared"


def test_a_setting_has_the_value_of_the_version_that_was_found(debian, campaign_file):
    name = debian["name"]
    found = campaign.load(str(campaign_file(environments=[name], settings=["osc_pt2pt"])))
    value = found.setting_values()["osc_pt2pt"][name]
    has_it = debian["version"].startswith("4.") and debian["family"] == "openmpi"
    assert (value["unavailable"] is None) == has_it
