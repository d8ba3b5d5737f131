"""`onesided site check`: modules and commands are tried now, as a job would run them."""

import contextlib
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from onesided.sites import job_start, site_check

from .conftest import HERE, PMI2, SLURM, faults

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
