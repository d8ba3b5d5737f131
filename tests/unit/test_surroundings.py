"""Variables of a shell are found, cleared or kept; the remaining variables are from a setting."""

import os
import re

import pytest

from onesided import sites
from onesided.campaign import campaign
from onesided.campaign.slot import Slot, inputs_of
from onesided.environments.providers import system
from onesided.report import scope
from onesided.system import documents, paths, pip, strays, surroundings
from onesided.system.errors import InputError

LIBRARY = {"OMPI_MCA_osc": "ucx", "FI_PROVIDER": "tcp"}
TOOL = {"SNAKEMAKE_PROFILE": "cluster", "CFLAGS": "-Werror", "MPICH_CC": "other"}


@pytest.fixture
def plain(monkeypatch):
    """A process whose shell sets no listed variable."""
    monkeypatch.setattr(surroundings, "_brought", {})
    for name in list(os.environ):
        listed = surroundings.rules().is_of_library(name) or surroundings.rules().is_of_tool(name)
        if listed or name.startswith("ONESIDED_KEPT"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return monkeypatch


def export(patch, variables):
    for name, value in variables.items():
        patch.setenv(name, value)


def test_what_libraries_and_tools_read_is_cleared_and_named(plain):
    export(
        plain, LIBRARY | TOOL | {"COLUMNS": "1", "SLURM_JOB_ID": "7", "PATH": os.environ["PATH"]}
    )
    assert surroundings.clear() == sorted(LIBRARY | TOOL)
    assert surroundings.cleared() == sorted(LIBRARY | TOOL)
    assert not (LIBRARY | TOOL | {"COLUMNS": ""}).keys() & os.environ.keys()
    assert os.environ["SLURM_JOB_ID"] == "7"
    assert (
        surroundings.line()
        == f"variables of the shell: cleared {', '.join(sorted(LIBRARY | TOOL))}"
    )


def test_nothing_is_said_of_a_shell_that_brings_nothing(plain):
    plain.setenv("COLUMNS", "80")
    assert (surroundings.clear(), surroundings.line(), surroundings.record()) == ([], None, {})


def test_what_is_kept_is_what_libraries_read_and_no_option_of_a_compiler(plain):
    export(plain, LIBRARY | TOOL)
    surroundings.clear()
    surroundings.keep()
    assert surroundings.kept() == LIBRARY
    assert surroundings.record() == {"cleared": sorted(TOOL), "kept": LIBRARY}
    assert not TOOL.keys() & os.environ.keys()


def test_a_process_below_keeps_the_same_and_nothing_that_a_tool_between_has_set(plain):
    export(plain, LIBRARY | {surroundings.KEEP_VARIABLE: "1"})
    surroundings.clear()
    plain.setenv("OMP_NUM_THREADS", "2")  # as Snakemake sets it for its jobs
    assert surroundings.clear() == []
    assert surroundings.record() == {"kept": LIBRARY}


def test_of_a_list_of_folders_those_with_an_mpi_are_taken_out(plain, tmp_path):
    (tmp_path / "mpi").mkdir()
    (tmp_path / "mpi/libmpi.so.12").touch()
    (tmp_path / "gcc").mkdir()
    plain.setenv("LD_LIBRARY_PATH", f"{tmp_path}/mpi:{tmp_path}/gcc")
    assert surroundings.clear() == ["LD_LIBRARY_PATH"]
    assert os.environ["LD_LIBRARY_PATH"] == f"{tmp_path}/gcc"
    # an MPI of the system may not start without
    assert surroundings.folders_of_shell(system.LIBRARIES) == f"{tmp_path}/mpi:{tmp_path}/gcc"


def test_functions_that_load_modules_stay(plain):
    export(plain, {"BASH_FUNC_module%%": "() { :; }", "BASH_FUNC_mpiexec%%": "() { :; }"})
    surroundings.clear()
    assert "BASH_FUNC_module%%" in os.environ
    assert "BASH_FUNC_mpiexec%%" not in os.environ


def test_sessions_with_different_variables_are_never_pooled(plain, campaign_file):
    loaded = campaign.load(campaign_file(keep_environment=True))
    environment = {"library": "MPI", "name": "mpich-5.0.2"}
    test = {"test": "t", "kernel": "shared_counter", "check": "shared_counter.py",
            "setting": "default"}  # fmt: skip

    def inputs():
        return inputs_of(Slot(loaded, "laptop:node", "mpich-5.0.2", 1), environment, [test])["t"]

    without = inputs()
    plain.setenv("FI_PROVIDER", "tcp")
    surroundings.clear()
    assert inputs() == without  # cleared variables change nothing
    loaded.keep_environment()
    kept = inputs()
    plain.setenv("FI_PROVIDER", "verbs")
    assert len({str(one) for one in (without, kept, inputs())}) == 3


def test_keep_environment_is_true_or_false(campaign_file):
    with pytest.raises(InputError, match="keep_environment"):
        campaign.load(campaign_file(keep_environment="some"))


@pytest.mark.parametrize(
    "found, said",
    [
        ({"FI_PROVIDER": "tcp"}, ["FI_PROVIDER=tcp"]),
        ({"FI_PROVIDER": "verbs", "UCX_TLS": "self"}, ["FI_PROVIDER=verbs", "UCX_TLS=self"]),
        ({"I_MPI_ROOT": "/x", "PMI_RANK": "0", "OMPI_COMM_WORLD_RANK": "0", "HOME": "/"}, []),
    ],
)
def test_what_ranks_have_that_nobody_asked_for_is_named(found, said):
    assert surroundings.foreign(found, ["I_MPI_ROOT"], {}) == said


def test_a_variable_of_the_setting_is_named_where_it_has_another_value():
    asked = {"FI_PROVIDER": "tcp"}
    assert surroundings.foreign({"FI_PROVIDER": "tcp"}, [], asked) == []
    assert surroundings.foreign({"FI_PROVIDER": "shm"}, [], asked) == ["FI_PROVIDER=shm"]


def test_a_kernel_records_every_variable_that_is_looked_for_in_its_header():
    source = (paths.project_root() / "src/kernels/harness/header.c").read_text()
    block = source.partition("prefixes[] = {")[2].partition("}")[0]
    recorded = tuple(re.findall(r'"([^"]+)"', block))
    declared = documents.read_yaml(paths.config_dir() / "variables.yaml", "variables")
    launchers = {"PMI_*", "PMIX_*"}  # they tell a rank its place
    missing = [
        pattern
        for pattern in declared["libraries"]
        if not pattern.startswith(recorded) and pattern not in launchers
        if "ENV_" not in pattern  # in a container they have lost this part
    ]
    assert missing == []


RECORD = {
    "sessions": [
        {"environment": "a", "shell": {"cleared": ["UCX_TLS"], "kept": {"FI_PROVIDER": "tcp"}}},
        {"environment": "b", "shell": {}},
    ],
    "launch_facts": [
        {"environment": "a", "foreign_variables": {"default": ["FI_PROVIDER=tcp"]}},
        {"environment": "b", "foreign_variables": {"tcp": ["OMPI_MCA_osc=ucx"]}},
    ],
}


def test_a_report_names_what_was_kept_and_what_ranks_had_besides():
    assert scope.cleared(RECORD) == ["UCX_TLS"]
    assert scope.foreign(RECORD) == {"a": ["FI_PROVIDER=tcp"], "b, tcp": ["OMPI_MCA_osc=ucx"]}
    words = "FI_PROVIDER=tcp (a); OMPI_MCA_osc=ucx (b, tcp)"
    assert scope.caveat(RECORD) == f"Run with variables that no setting names: {words}."
    assert scope.caveat({"sessions": [{"environment": "a"}]}) is None


def test_of_the_settings_of_pip_those_of_the_network_count(tmp_path):
    path = tmp_path / "pip.conf"
    path.write_text(
        "[global]\nuser = true\nproxy = http://a\n[install]\nproxy = http://b\nprefix=/\n"
    )
    shells = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": str(path), "PIP_TARGET": "/x",
              "PIP_FIND_LINKS": "/wheels /more", "PYTHONPATH": "/y"}  # fmt: skip
    found = pip.variables(paths.project_root() / ".venv/bin/python", shells)
    assert found["PIP_CONFIG_FILE"] == os.devnull
    assert (found["PIP_PROXY"], found["PIP_FIND_LINKS"]) == ("http://b", "/wheels /more")
    others = {"PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONPATH"}
    assert not others & found.keys()


def test_a_site_file_clears_them_for_plain_reframe(plain, tmp_path, capsys):
    plain.setenv(strays.SESSION_MARKER, "")
    plain.delenv(strays.SESSION_MARKER)
    plain.setenv("ONESIDED_BUILD", str(tmp_path))
    export(plain, LIBRARY | {"RFM_SYSTEM": "laptop"})
    sites.configuration("laptop", "a machine", [{"name": "node", "scheduler": "local"}])
    assert not LIBRARY.keys() & os.environ.keys()
    assert os.environ["RFM_SYSTEM"] == "laptop"  # ReFrame has read it; it belongs to ReFrame's user
    assert capsys.readouterr().err == "variables of the shell: cleared FI_PROVIDER, OMPI_MCA_osc\n"


def test_what_is_started_is_of_the_package_that_starts_it(plain):
    source = str(paths.project_root() / "src")
    plain.setenv("PYTHONPATH", f"/other:{source}")
    assert surroundings.clear() == []
    assert os.environ["PYTHONPATH"] == source
