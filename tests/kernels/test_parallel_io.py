"""Parallel input and output: every int written or read is verified; a full disk is named."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .files import (
    TINY_BYTES,
    TMPFS,
    dead_process,
    file_of,
    file_system,
    on_disk,
    with_tiny_tmpfs,
)
from .launching import preloaded

WAYS = "at_all,at_all_darray,at,iat,posix,own_files,one_rank"
#: Three samples after four cold ones.
FEW = ("--samples=3", "--budget-s=60")
SAMPLES = 7
#: Odd, so that blocks differ and no block consists of whole pages.
SIDE = 11
INTS = SIDE**3
IN_MEMORY = ("--storage=tmpfs", "--blocks=cubes,slabs", f"--side={SIDE}")


@pytest.fixture(scope="module")
def files(each):
    return each("parallel_io")


def assert_verified(run, ranks):
    assert len(run.statuses) == 2 * 2 * len(WAYS.split(","))
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        # each rank compares the file, with its length; of data read, each rank has a part
        wanted = (
            {"file": (SAMPLES * ranks * (INTS + 1), 0)}
            if result["labels"]["direction"] == "write"
            else {"blocks": (SAMPLES * INTS, 0)}
        )
        assert verified(result) == wanted
        assert samples(result, "time").keys() == samples(result, "open").keys() == set(range(ranks))


@pytest.mark.every_mpi
def test_every_int_is_verified_in_the_file_and_in_memory(files):
    assert_verified(files.launch(*FEW, *IN_MEMORY), 2)


@pytest.mark.slow
def test_every_int_is_verified_with_three_ranks(files):
    assert_verified(files.launch(*FEW, *IN_MEMORY, ranks=3), 3)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_stale_or_altered_is_found_in_every_way(files, fault):
    own = ("--samples=1", *IN_MEMORY)
    with_fault_everywhere(files, fault, *own, "--way=at_all,at_all_darray,at,iat,one_rank")
    # the first three check whether both ranks see the folder
    by_system = "--way=posix,own_files"
    with_fault_everywhere(files, fault, *own, by_system, calls="pread,pwrite", count="4")


def test_the_file_system_is_found_and_the_file_removed(files, tmp_path):
    folder = on_disk(tmp_path)
    options = ("--storage=disk,tmpfs", "--way=posix", "--direction=write")
    own_files = files.launch(*FEW, "--way=own_files", f"--disk-dir={folder}")
    assert set(own_files.statuses.values()) == {"ok"}
    run = files.launch(*FEW, *options, f"--disk-dir={folder}")
    disk, memory = (result["storage"] for result in run.results.values())
    assert (disk["asked"], disk["file_system"]) == ("disk", file_system(folder))
    assert (memory["asked"], memory["folder"]) == ("tmpfs", str(TMPFS))
    assert memory["file_system"] == "tmpfs"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--storage=disk", f"--disk-dir={TMPFS}"], r"asked for a disk, found tmpfs \(.+"),
        (["--storage=tmpfs", "--tmpfs-dir={folder}"], r"asked for a tmpfs, found (?!tmpfs).+"),
        (["--storage=disk", "--disk-dir={folder}/no"], r"asked for a file in .+ No such file .+"),
        (["--side=1", "--blocks=cubes"], r"a side of 1 ints is cut into 2 parts"),
    ],
)
def test_what_is_not_as_it_was_asked_for_is_unsupported(files, tmp_path, options, reason):
    folder = on_disk(tmp_path)
    run = files.launch(*FEW, *(option.format(folder=folder) for option in options))
    assert set(run.statuses.values()) == {"unsupported"}
    for result in run.results.values():
        assert re.fullmatch(reason, result["detail"]), result["detail"]
        assert (result["series"], result["verification"]) == ([], [])


@pytest.mark.every_mpi
def test_no_space_left_is_no_crash_and_names_device_and_bytes(files, tmp_path):
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    tiny = with_tiny_tmpfs(files, mounted, tmp_path)
    # 16 KiB fit; a MiB does not
    run = tiny.launch(*FEW, "--storage=tmpfs", f"--tmpfs-dir={mounted}", "--side=16,64")
    assert run.ended_with(4), run.stderr
    for result in run.results.values():
        if result["labels"]["side"] == 16:
            assert result["status"] == "ok"
            continue
        said = f"no space left: asked for {4 * 64**3} bytes on tiny (tmpfs), found {TINY_BYTES}"
        assert (result["status"], result["detail"]) == ("unsupported", said)


@pytest.mark.every_mpi
def test_no_space_left_that_a_library_finds_is_said_too(files, tmp_path):
    # an MPI may have no own error class for a full disk
    source = (Path(__file__).parent / "full.c").read_text("utf-8")
    variables = {**preloaded(source, tmp_path), "FULL": str(tmp_path / "full")}
    # Open MPI 5.0.11 crashes in MPI_Wait for a nonblocking write that failed
    crashing = {"iat"} if files.environment.document["family"] == "openmpi" else set()
    for way in sorted(set(WAYS.split(",")) - crashing):
        (tmp_path / "full").unlink(missing_ok=True)
        options = ("--direction=write", f"--way={way}", "--storage=tmpfs", f"--side={SIDE}")
        run = files.launch(*FEW, *options, "--cell-timeout-s=20", variables=variables)
        (result,) = run.results.values()
        assert run.ended_with(4), run.stderr
        assert result["detail"].endswith(f"asked for {4 * INTS} bytes on tmpfs (tmpfs), found 0")
        assert (result["status"], result["series"]) == ("unsupported", [])


def test_a_rank_makes_a_request_for_each_run_of_its_block(files):
    run = files.launch(*FEW, "--way=posix,at", "--direction=write", *IN_MEMORY)
    for result in run.results.values():
        labels = result["labels"]
        one = [SIDE**2 if labels["blocks"] == "cubes" else 1]
        wanted = {0: one, 1: one} if labels["way"] == "posix" else {}
        assert samples(result, "requests") == wanted


def test_the_parts_of_a_distributed_array_are_of_one_size_but_for_the_last(files):
    # a side of four in three parts: two, two and none
    own = ("--storage=tmpfs", "--blocks=slabs", "--side=4", "--way=at_all_darray,at_all")
    run = files.launch(*FEW, *own, ranks=3)
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "ok")
    # a part with no place or two places in the file is verified less often
    assert {
        sum(checked for checked, _ in verified(one).values()) for one in run.results.values()
    } == {
        SAMPLES * 3 * (4**3 + 1),
        SAMPLES * 4**3,
    }


def test_what_a_dead_launch_has_left_is_removed_and_nothing_else(files, tmp_path):
    folder = on_disk(tmp_path)
    stray, alive, other = (
        folder / name for name in (file_of(dead_process()), file_of(os.getpid()), "onesided-x")
    )
    for path in (stray, alive, other):
        path.write_text("x", "utf-8")
    options = ("--storage=disk", "--way=posix", "--direction=write", f"--disk-dir={folder}")
    files.launch(*FEW, *options, fault="abort clock_gettime 4 1 0")
    run = files.launch(*FEW, *options)
    assert set(run.statuses.values()) == {"ok"}
    assert set(folder.iterdir()) == {alive, other}
