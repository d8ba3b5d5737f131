"""`onesided site check`: a line now for each thing that would fail later."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from onesided.sites import job_start, launchers, site_check

ROOT = Path(__file__).parents[2]
HERE = f"^{re.escape(socket.gethostname())}$"
FILE = """
from onesided import sites
site_configuration = sites.configuration(
    system="mine", descr="a site", hostnames=[{hostnames!r}], partitions=[{partition!r}], **{more!r}
)
"""


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


def test_a_site_file_that_lacks_nothing_has_no_fault_and_a_line_a_partition(site_file):
    found = site_check.check(site_file())
    assert found.faults == []
    assert found.notes == []
    assert found.partitions == [
        "mine:node: local, mpiexec; ranks a node: all; environments ready: 1 of 1"
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"extras": {"rank_per_node": 2}}, ["extras", "'rank_per_node'", "ranks_per_node"]),
        ({"features": ["one_node", "netwrok"]}, ["features.1", "'netwrok'", "network"]),
        ({"features": []}, ["features", "neither", "one of one_node and network"]),
        ({"features": ["one_node", "network"]}, ["features", "one_node and network"]),
        ({"extras": {"ranks_per_node": 1}}, ["extras.ranks_per_node", "found 1", "all ranks"]),
        ({"extras": {"nodes": 4}}, ["extras.nodes", "found 4", "all ranks"]),
        ({"extras": {"nodes": 1}}, ["extras.nodes", "found 1", "a whole number from 2"]),
        ({"launcher": "local"}, ["launcher", "found local", "a launcher that starts ranks"]),
        ({"launcher": "mpirunn"}, ["launcher", "no such launcher", "mpirunn"]),
        ({"scheduler": "slrm"}, ["scheduler", "no such scheduler", "slrm"]),
        ({"extras": {"srun_mpi": {"mpich": "pmi2"}}}, ["extras.srun_mpi", "mpiexec and not srun"]),
        ({"launcher": "mpirun"}, ["extras.launcher_placement", "nothing", "options of mpirun"]),
        ({"environs": ["mpich-9"]}, ["no mpich-9", "mpich-5.0.2"]),
        ({"environs": ["openmpi-4.1.8"]}, ["environs", "none that is ready", "not provided yet"]),
        ({"max_jobs": "many"}, ["max_jobs", "'many' is not of type 'number'"]),
        ({"without": ["launcher"]}, ["'launcher' is a required property"]),
        ({"max_job": 1}, ["max_job", "Additional properties"]),
        ({"hostnames": "login["}, ["hostnames", "login[", "a regular expression"]),
        ({"more": {"modules_sytem": "lmod"}}, ["modules_sytem", "Additional properties"]),
    ],
)
def test_each_fault_is_a_line_that_names_what_was_found(
    site_file, monkeypatch, tmp_path, changes, words
):
    if changes.get("environs") == ["openmpi-4.1.8"]:
        monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    lines = faults(site_file(**changes))
    assert any(all(word in line for word in words) for line in lines), lines
    assert all("\n" not in line for line in lines)


def test_network_wants_ranks_a_node_and_a_scheduler_that_gives_nodes(site_file):
    lines = faults(site_file(features=["network"]))
    assert len(lines) == 2
    assert "extras.ranks_per_node: found nothing" in lines[0]
    assert "scheduler: found local with network" in lines[1]


def test_several_faults_are_all_told(site_file):
    lines = faults(site_file(features=["x", "y"], extras={"a": 1}, scheduler="slrm"))
    assert len(lines) == 5, lines


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("site_configuration = {", ["line 1", "'{' was never closed"]),
        ("nothing = 1", ["not a valid Python configuration file"]),
        ("site_configuration = {}['systems']", ["KeyError", "systems"]),
        ("import no_such_module\nsite_configuration = {}", ["No module named 'no_such_module'"]),
    ],
)
def test_a_file_that_cannot_be_loaded_says_why_in_one_line(tmp_path, text, words):
    path = tmp_path / "broken.py"
    path.write_text(text)
    (line,) = faults(path)
    assert all(word in line for word in words), line


def test_a_file_that_is_not_there_is_one_fault(tmp_path):
    (line,) = faults(tmp_path / "nowhere.py")
    assert "no such file" in line


SLURM = {"scheduler": "slurm", "launcher": "srun", "processor": {"num_cpus": 2}}
PMI2 = {"srun_mpi": {"mpich": "pmi2"}}


def test_the_schedulers_programs_are_wanted_on_their_own_machine(site_file, program):
    lines = faults(site_file(**SLURM, extras=PMI2))
    wanted = [
        f"no {name} on PATH" for name in ("sbatch", "srun") if not Path("/usr/bin", name).exists()
    ]
    assert len(lines) == len(wanted)
    assert all(word in line for word, line in zip(wanted, lines, strict=True))


def test_elsewhere_a_program_that_is_not_there_is_a_note(site_file, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    found = site_check.check(site_file(**SLURM, extras=PMI2, hostnames="^another-machine$"))
    assert found.faults == []
    assert any("no sbatch on PATH" in note for note in found.notes)
    assert any("another machine" in note for note in found.notes)


def test_an_interface_that_srun_does_not_have_is_a_fault_where_srun_can_say(site_file, program):
    program("sbatch")
    program("srun", "printf 'MPI plugin types are...\\n\\tnone\\n\\tpmi2\\n'")
    assert faults(site_file(**SLURM, extras=PMI2)) == []
    (line,) = faults(site_file(**SLURM, extras={"srun_mpi": {"mpich": "pmix"}}))
    assert "extras.srun_mpi.mpich: found pmix; expected one of none, pmi2" in line


def test_a_srun_that_reaches_no_slurm_says_nothing_of_interfaces(site_file, program):
    program("sbatch")
    program("srun", "echo 'srun: fatal: none of the controllers answers' >&2; exit 1")
    assert faults(site_file(**SLURM, extras={"srun_mpi": {"mpich": "pmix"}})) == []


def test_the_list_of_srun_is_read_with_the_variants_of_pmix():
    answer = (
        "MPI plugin types are...\n\tcray_shasta\n\tpmix\n\tnone\n\tpmi2\n"
        "specific pmix plugin versions available: pmix_v3,pmix_v4\n"
    )
    names = launchers.interfaces_in(answer)
    assert names == ["cray_shasta", "none", "pmi2", "pmix", "pmix_v3", "pmix_v4"]


def test_what_is_not_said_of_a_node_and_who_goes_without_srun_are_notes(site_file, program):
    program("sbatch")
    program("srun")
    found = site_check.check(site_file(scheduler="slurm", launcher="srun"))
    assert found.faults == []
    assert any("processor.num_cpus is not said" in note for note in found.notes)
    assert any("mpich not in srun_mpi" in note for note in found.notes)


def test_the_command_prints_each_fault_and_exits_2(site_file, onesided):
    answer = onesided("site", "check", site_file(features=[], launcher="local"), check=False)
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 2
    assert all(line.startswith("onesided: ") for line in answer.stderr.splitlines())
    fine = onesided("site", "check", site_file())
    assert fine.stderr == ""


LMOD = {"modules_system": "lmod"}
ENVMOD = {"modules_system": "envmod"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("lmod", "Lmod: the command `module`"),
        ("envmod", "Environment Modules: the command `module`"),
        ("tmod4", "Environment Modules: the command `module`"),
        ("spack", "Spack: the command `spack`"),
    ],
)
def test_a_modules_system_that_is_not_there_is_one_fault_and_its_modules_are_none(
    site_file, program, onesided, kind, expected
):
    path = site_file(more={"modules_system": kind}, modules=["foss/2023b"])
    answer = onesided("site", "check", path, check=False)
    assert answer.returncode == 2
    (line,) = answer.stderr.splitlines()
    assert line.startswith(
        f"onesided: {path}: mine:node: modules_system: found {kind} (exit status"
    )
    assert "not found" in line
    assert f"expected {expected}" in line


def test_modules_without_a_modules_system_are_a_fault_on_any_machine(site_file):
    for hostnames in (HERE, "^another-machine$"):
        (line,) = faults(site_file(modules=["foss/2023b"], hostnames=hostnames))
        assert "mine:node: modules.0: found foss/2023b; expected no module, or a mod" in line


def test_modules_that_load_are_no_fault_and_one_that_does_not_says_why(site_file, modules):
    def lines(*names):
        return faults(site_file(more=ENVMOD, prepare_cmds=modules, modules=list(names)))

    assert lines("one", "two") == []
    use, folder = modules.pop().rsplit(maxsplit=1)
    assert lines({"name": "one", "path": folder}, {"name": "two", "path": folder}) == []
    modules.append(f"{use} {folder}")
    (missing,) = lines("one", "three")
    assert "mine:node: modules.1: found three (exit status 1: " in missing
    assert "'three'" in missing
    (alone,) = lines("two")
    assert "mine:node: modules.0: found two (exit status 1: one is wanted)" in alone


def test_environment_modules_are_not_lmod(site_file, modules):
    (line,) = faults(site_file(more=LMOD, prepare_cmds=modules, modules=["one"]))
    assert "modules_system: found lmod (exit status 1: LMOD_CMD is not set)" in line


def test_a_command_finds_what_the_ones_before_it_and_nobody_else_set(site_file, tmp_path):
    commands = [
        "set -u",
        "export OF_MINE=1; cd /",
        "test $OF_MINE",
        "echo said; echo so >&2",
        "cat",
    ]
    assert faults(site_file(prepare_cmds=commands, env_vars=[["B", "$OF_MINE"]])) == []
    assert "OF_MINE" not in os.environ


def test_each_command_that_fails_is_a_line_with_its_status_and_first_words(site_file):
    commands = [
        "echo 'not this' >&2",
        "ls /nowhere/a /nowhere/b",
        "if true; then",
        "echo first >&2; echo second >&2",
        "(echo so >&2; exit 7)",
        "fi",
        "true | nobodys_program",
    ]
    found = faults(site_file(prepare_cmds=commands, env_vars=[["A", "x y"], ["B", "it's"]]))
    assert [line.partition(": found ")[0].rpartition(": ")[2] for line in found] == [
        *("env_vars.A", "env_vars.B", "prepare_cmds.1", "prepare_cmds.4", "prepare_cmds.6")
    ]
    assert "found x y; expected one word of the shell" in found[0]
    status = "(exit status 2: ls: cannot access '/nowhere/a': No such file or directory)"
    assert f"found ls /nowhere/a /nowhere/b {status}; expected a command that ends with" in found[2]
    assert "found (echo so >&2; exit 7) (exit status 7: so); expected" in found[3]
    assert "(exit status 127: nobodys_program: command not found)" in found[4]


def test_a_sourced_file_that_fails_inside_is_the_fault_of_its_line(site_file, tmp_path):
    (tmp_path / "init").write_text("\n" * 40 + "false\ntrue\n")
    (line,) = faults(site_file(prepare_cmds=["true\ntrue", f". {tmp_path}/init", "true"]))
    assert "prepare_cmds.1: found . " in line
    assert "(exit status 1)" in line


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("exit 3", "found exit 3 (it ends the shell, exit status 3)"),
        ("set -e; false", "found set -e; false (exit status 1)"),
        ("echo 'open", "found echo 'open (it ends the shell, exit status 2: unexpected EOF"),
        ("set -u; echo $NOBODYS", "(it ends the shell, exit status 1: NOBODYS: unbound variable)"),
    ],
)
def test_a_command_that_ends_the_shell_is_named(site_file, command, words):
    (line,) = faults(site_file(prepare_cmds=["true", command, "true"]))
    assert "prepare_cmds.1: " in line
    assert words in line


def test_a_command_that_hangs_is_ended_with_all_that_it_started(site_file, monkeypatch):
    monkeypatch.setattr(job_start, "LIMIT_S", 0.5)
    begin_s = time.monotonic()
    commands = ["false", "setsid sleep 871 & sleep 872", "false"]
    found = faults(site_file(prepare_cmds=commands))
    assert time.monotonic() - begin_s < 30
    assert len(found) == 2
    assert "prepare_cmds.0: found false (exit status 1)" in found[0]
    assert "prepare_cmds.1: " in found[1]
    assert "(still running after 0.5 s, the limit; nothing after it was tried)" in found[1]
    assert left_running("sleep 87[12]") == []


def left_running(pattern):
    """Return the command lines of processes that match."""
    files = Path("/proc").glob("[0-9]*/cmdline")
    texts = []
    for file in files:
        with contextlib.suppress(OSError):
            texts.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [text for text in texts if re.match(pattern, text)]


def test_nothing_that_a_command_starts_or_writes_is_left(site_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = site_file(prepare_cmds=["touch a-file", "sleep 873 &"])
    assert faults(path) == []
    assert [*tmp_path.rglob("a-file")] == []
    assert left_running("sleep 873") == []


def test_with_a_scheduler_what_fails_here_is_a_note_with_what_to_type_in_a_job(site_file, program):
    for name in ("sbatch", "srun", "qsub"):
        program(name)
    job = {"more": LMOD, "prepare_cmds": ["cd /nowhere"], "modules": ["a"], "access": ["-A", "x y"]}
    found = site_check.check(site_file(**{**SLURM, **job}, extras=PMI2))
    assert found.faults == []
    # without the modules system, there is no line about its modules
    command, kind = [note for note in found.notes if "in a job, type: " in note]
    assert "prepare_cmds.0: found cd /nowhere (exit status 1: cd: /nowhere: No such file" in command
    assert command.endswith("in a job, type: srun --ntasks=1 -A 'x y' bash -c 'cd /nowhere'")
    assert "modules_system: found lmod" in kind
    assert "in a job, type: srun --ntasks=1 -A 'x y' bash -c 'cd /nowhere; type module; " in kind


@pytest.mark.parametrize("command", ["test 1 = 2", "echo 'it is\\n'\ntest 1 = 2"])
def test_what_is_to_be_typed_in_a_job_does_the_same_there(site_file, program, command):
    program("qsub")
    found = site_check.check(site_file(scheduler="pbs", prepare_cmds=["A=' a'", command]))
    assert found.faults == []
    (note,) = [note for note in found.notes if "in a job, type: " in note]
    assert "\n" not in note
    typed = note.partition("in a job, type: ")[2]
    assert typed.startswith("bash -c ")
    # the script that bash gets, and its end
    words = subprocess.run(
        ["bash", "-c", f"printf %s {typed.removeprefix('bash -c ')}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert words.stdout == f"A=' a'; {command}"
    assert (
        subprocess.run(["bash", "-c", typed], check=False, stdout=subprocess.DEVNULL).returncode
        == 1
    )


def test_what_is_wrong_in_the_file_is_a_fault_with_a_scheduler_as_well(site_file, program):
    program("sbatch")
    program("srun")
    (line,) = faults(site_file(**SLURM, extras=PMI2, env_vars=[["A", "x y"]]))
    assert "env_vars.A: found x y; expected one word" in line


def test_nothing_is_run_on_another_machine(site_file, tmp_path):
    mark = tmp_path / "mark"
    path = site_file(prepare_cmds=[f"touch {mark}; false"], hostnames="^another-machine$")
    assert faults(path) == []
    assert not mark.exists()


def test_what_an_environment_adds_is_tried_once_after_its_partition(site_file):
    added = {
        "name": "mpich-5_0_2",
        "prepare_cmds": ["test $OF_MINE = 2"],
        "modules": [],
        "target_systems": ["mine"],
    }
    path = site_file(prepare_cmds=["export OF_MINE=1", "(exit 4)"], more={"environments": [added]})
    found = [line for line in faults(path) if "exit status" in line]
    assert len(found) == 2
    assert "mine:node: prepare_cmds.1: " in found[0]
    assert "mine:node: environments.mpich-5_0_2.prepare_cmds.0: found test $OF_MINE = 2" in found[1]


def test_reframe_wants_its_modules_system_here_where_it_resolves_conflicts(site_file, program):
    program("sbatch")
    program("srun")
    more = {**LMOD, "general": {"resolve_module_conflicts": True}}
    (line,) = faults(site_file(**SLURM, extras=PMI2, more=more))
    assert "mine: modules_system: found lmod: could not find a sane Lmod installation" in line


@pytest.mark.parametrize("path", sorted((ROOT / "reframe_checks/sites").glob("[!_]*.py")), ids=str)
def test_no_shipped_site_file_has_a_fault_anywhere(path, onesided):
    answer = onesided("site", "check", path, check=False)
    lines = answer.stderr.splitlines()
    # the virtual cluster accepts any machine, and its Slurm is the machine's own
    missing = [line for line in lines if re.search(r"found no (sbatch|srun) on PATH", line)]
    assert lines == (missing if path.stem == "virtual_cluster" else []), answer.stderr
    assert f"{path.stem}:" in answer.stdout
    if missing:
        pytest.skip(f"no Slurm on this machine: {missing[0].partition('found ')[2]}")
    assert answer.returncode == 0


PLAIN = """
site_configuration = {{
    "systems": [{{
        "name": "box", "descr": "", "hostnames": [{hostnames!r}],
        "modules_system": {modules_system!r},
        "partitions": [{partition!r}],
    }}],
    "environments": {environments!r},
}}
"""
GNU = {"name": "PrgEnv-gnu", "cc": "mpicc", "modules": ["gnu"]}


@pytest.fixture
def plain_file(tmp_path):
    """Return a function that writes a configuration without any part of this project."""

    def write(*environments, hostnames=HERE, modules_system="nomod", **changes):
        partition = {
            "name": "compute",
            "scheduler": "local",
            "launcher": "mpirun",
            "environs": [one["name"] for one in environments],
            "features": ["cpu", "netwrok", "scale_16_nodes"],
            "extras": {"mem_per_node": 16, "nodes": 4},
            **changes,
        }
        path = tmp_path / f"plain{len(list(tmp_path.glob('plain*.py')))}.py"
        path.write_text(
            PLAIN.format(
                hostnames=hostnames,
                modules_system=modules_system,
                partition=partition,
                environments=list(environments),
            )
        )
        return path

    return write


def test_a_plain_configuration_may_have_foreign_features_extras_environments(plain_file, program):
    program("mpicc")
    program("mpirun")
    found = site_check.check(plain_file({"name": "PrgEnv-gnu", "cc": "mpicc"}))
    assert found.faults == []
    assert found.notes == []
    own = "environments of the site's own: PrgEnv-gnu"
    assert found.partitions == [f"box:compute: local, mpirun; {own}"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"extras": {"ranks_per_node": 0}}, ["extras.ranks_per_node", "a whole number from 1"]),
        ({"extras": {"ranks": "many"}}, ["extras.ranks", "many"]),
        ({"launcher": "mpirunn"}, ["launcher", "no such launcher"]),
        ({"scheduler": "slrm"}, ["scheduler", "no such scheduler"]),
        ({"environs": ["PrgEnv-cray"]}, ["environs: found PrgEnv-cray", "defines for box:compute"]),
        ({"prepare_cmds": ["false"]}, ["prepare_cmds.0: found false", "exit status 1"]),
        ({"modules": ["gnu"]}, ["modules.0: found gnu", "no module"]),
        ({}, ["environments.PrgEnv-gnu.cc: found mpicc", "a compiler that is on PATH"]),
        ({}, ["launcher: found mpirun", "in the environment PrgEnv-gnu that is on PATH"]),
    ],
)
def test_what_reframe_cannot_do_with_a_plain_configuration_is_a_line(
    plain_file, program, monkeypatch, tmp_path, changes, words
):
    bash = shutil.which("bash")
    (tmp_path / "bin/bash").symlink_to(bash)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    lines = faults(plain_file({"name": "PrgEnv-gnu", "cc": "mpicc"}, **changes))
    assert any(all(word in line for word in words) for line in lines), lines


def test_an_environment_is_the_one_that_the_file_defines_for_the_partitions_system(
    plain_file, program
):
    program("mpicc")
    program("mpirun")
    of_another = {**GNU, "prepare_cmds": ["false"], "target_systems": ["another"]}
    own = {"name": "PrgEnv-gnu", "cc": "mpicc", "target_systems": ["box:compute"]}
    for order in ([own, of_another], [of_another, own]):
        assert faults(plain_file(*order, environs=["PrgEnv-gnu"])) == []


def test_a_launcher_without_ranks_is_a_note_because_a_login_partition_is_none_of_ours(
    plain_file, program
):
    program("mpicc")
    found = site_check.check(plain_file({"name": "gnu", "cc": "mpicc"}, launcher="local"))
    assert found.faults == []
    (note,) = found.notes
    assert "launcher: found local; expected a launcher that starts ranks" in note


def test_a_compiler_that_a_module_brings_is_found_and_a_missing_module_is_one_fault(
    plain_file, modules, tmp_path
):
    (tmp_path / "gnu").mkdir()
    for name in ("mpicc-of-gnu", "mpirun"):
        (tmp_path / "gnu" / name).write_text("#!/bin/sh\n")
        (tmp_path / "gnu" / name).chmod(0o755)
    environment = {**GNU, "cc": "mpicc-of-gnu"}
    wanted = {"modules_system": "envmod", "prepare_cmds": modules}
    (line,) = faults(plain_file(environment, **wanted))
    assert "environments.PrgEnv-gnu.modules.0: found gnu" in line
    (tmp_path / "modulefiles/gnu").write_text(f"#%Module\nprepend-path PATH {tmp_path}/gnu\n")
    assert faults(plain_file(environment, **wanted)) == []
