"""`onesided site check`: a line now for each thing in the file that would fail later."""

import re
from pathlib import Path

import pytest

from onesided.sites import launchers, site_check

from .conftest import PMI2, ROOT, SLURM, faults


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
