"""Resources that ranks share, and their binary: the header reports them in every launch model."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from .launching import Run

SMALL = ("--compute_ms", "0.5", "--flavor", "allocate", "--case", "target_idle")
KINDS = ("user", "mnt", "pid", "ipc", "net", "uts")
#: Each rank gets its own namespaces; an ordinary user needs the first to get the others.
UNSHARE = ("unshare", "--user", "--map-root-user", "--uts", "--ipc")


def header_of(run: Run) -> dict:
    (header,) = run.of_type("header")
    return header


@pytest.fixture
def each_rank_in_its_own(shared_counter, tmp_path):
    """Return the kernel; each rank runs in its own user, UTS and IPC namespaces."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespaces here")
    script = tmp_path / "apart.sh"
    words = shlex.join([*UNSHARE, str(shared_counter.executable)])
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n', "utf-8")
    script.chmod(0o755)
    return replace(shared_counter, executable=script)


def test_ranks_side_by_side_share_every_namespace_and_dev_shm(shared_counter):
    header = header_of(shared_counter.launch(*SMALL))
    assert header["namespaces"] == dict.fromkeys(KINDS, 1)
    assert header["dev_shm_shared"] is True
    assert header["container"] is None


def test_ranks_in_namespaces_of_their_own_are_counted_by_kind(each_rank_in_its_own):
    header = header_of(each_rank_in_its_own.launch(*SMALL))
    assert header["namespaces"] == {
        **dict.fromkeys(KINDS, 1),
        "user": 2,
        "ipc": 2,
        "uts": 2,
    }
    assert header["dev_shm_shared"] is True
    # so MPI libraries lose the short path between two processes
    assert header["process_vm_readv"] is False


@pytest.mark.first_mpi
def test_what_takes_two_ranks_to_compare_is_null_with_one(shared_counter):
    header = header_of(shared_counter.launch(*SMALL, ranks=1))
    assert header["namespaces"] == dict.fromkeys(KINDS, 1)
    assert header["dev_shm_shared"] is None


@pytest.mark.first_mpi
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"APPTAINER_CONTAINER": "/images/mpich.sif"}, "/images/mpich.sif"),
        ({"SINGULARITY_CONTAINER": "/images/old.sif"}, "/images/old.sif"),
        (
            {"APPTAINER_CONTAINER": "/images/mpich.sif", "SINGULARITY_CONTAINER": "/images/old"},
            "/images/mpich.sif",
        ),
        ({"APPTAINER_CONTAINER": ""}, None),
    ],
)
def test_the_image_is_what_the_runtime_calls_it(shared_counter, variables, said):
    assert header_of(shared_counter.launch(*SMALL, variables=variables))["container"] == said


@pytest.mark.first_mpi
def test_the_binary_that_ran_is_told_as_sha256sum_tells_it(shared_counter):
    answer = subprocess.run(
        ["sha256sum", shared_counter.executable], capture_output=True, text=True, check=True
    )
    header = header_of(shared_counter.launch(*SMALL))
    assert header["program_sha256"] == answer.stdout.split()[0]


@pytest.mark.first_mpi
def test_a_binary_is_not_told_where_there_is_no_sha256sum(shared_counter, tmp_path):
    script = tmp_path / "without.sh"
    words = shlex.quote(str(shared_counter.executable))
    script.write_text(f'#!/bin/sh\nPATH=/nowhere exec {words} "$@"\n', "utf-8")
    script.chmod(0o755)
    header = header_of(replace(shared_counter, executable=script).launch(*SMALL))
    assert header["program_sha256"] is None


def test_a_world_of_another_size_than_asked_for_runs_no_cell_and_says_it_once(shared_counter):
    run = shared_counter.launch(*SMALL, "--ranks", "3")
    assert run.code == 4
    assert [line["type"] for line in run.lines] == ["header"]
    assert header_of(run)["ranks"] == 2
    assert run.stderr.count("ranks: found 2 in the world; expected 3") == 1
    assert header_of(shared_counter.launch(*SMALL, "--ranks", "2"))["ranks"] == 2


def test_a_whole_launch_of_the_ranks_asked_for_finishes(shared_counter):
    run = shared_counter.launch(*SMALL, "--ranks", "2")
    assert (run.code, run.lines[-1]) == (0, {"type": "finished"})


@pytest.mark.first_mpi
def test_the_side_files_of_a_wrong_world_are_none(shared_counter):
    run = shared_counter.launch(*SMALL, "--ranks", "3")
    assert list(Path(run.output).parent.glob(f"{run.output.name}.*")) == []


def test_the_header_names_compiler_flags_processor_and_versions_of_libraries(shared_counter):
    header = header_of(shared_counter.launch(*SMALL))
    assert re.fullmatch(r"\w+ \d+(\.\d+)+", header["build"]["compiler"])
    assert "-O2" in header["build"]["flags"].split()
    cpuinfo = Path("/proc/cpuinfo").read_text()
    assert header["processors"] == list(
        dict.fromkeys(re.findall(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE))
    )
    assert set(header["transport_libraries"]) == {"ucx", "libfabric"}
    for version in header["transport_libraries"].values():
        assert version is None or re.fullmatch(r"\d+(\.\d+)+", version)
