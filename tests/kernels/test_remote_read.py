"""Remote read and write: every element is verified; requests for nothing are refused."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .files import on_disk
from .launching import preloaded

MULTIPLE = "--thread-level=multiple"
#: Bursts of three after four cold bursts of three; a cold operation is its own burst.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
SAMPLES = 7
ELEMENTS = 65
SIZE = f"--size_bytes={8 * ELEMENTS}"
#: Eleven requests, each with a code and no data; requests to write leave the file unchanged.
REFUSED, REFUSED_WRITES = (22, 0), (23, 0)
KEEPS_PAGES = "int posix_fadvise(int f, long o, long l, int a) { return f + o + l + a < 0; }"


@pytest.fixture(scope="module")
def reads(each):
    return each("remote_read")


@pytest.fixture
def disk(tmp_path):
    return f"--disk-dir={on_disk(tmp_path)}"


@pytest.mark.every_mpi
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_element_is_verified_and_every_bad_request_refused(reads, disk, ranks):
    run = reads.launch(*FEW, MULTIPLE, disk, SIZE, ranks=ranks)
    provided = run.lines[0]["thread_level"]["provided"]
    assert len(run.statuses) == 15
    for result in run.results.values():
        labels = result["labels"]
        if labels["server"] == "thread" and provided != "multiple":
            assert result["status"] == "unsupported"
            continue
        assert result["status"] == "ok", result["detail"]
        found = verified(result)
        burst = 1 if labels["cache"] == "cold" else 3
        assert found.pop("data") == (SAMPLES * burst * (ELEMENTS + 1), 0)
        refused = REFUSED_WRITES if "write" in labels["way"] else REFUSED
        is_local = labels["way"].startswith("local")
        asked = {} if is_local else {"answered": (1, 0), "refused": refused}
        assert found == asked


def test_a_cold_file_is_not_in_memory_and_a_warm_one_is(reads, disk):
    run = reads.launch(*FEW, disk, SIZE, "--way=local,put_back,send_back")
    found = set()
    for result in run.results.values():
        if result["status"] == "ok":
            labels = result["labels"]
            # the rank that reads the file verifies it
            reader = 1 if labels["way"] == "local" else 0
            (shares,) = samples(result, "resident").items()
            assert shares == (reader, [float(labels["cache"] == "warm")] * 3)
            found.add((labels["way"], labels["cache"]))
    assert len(found) == 6


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_is_lost_stale_or_altered_is_found(reads, disk, fault):
    """Rank 0 serves: its requests arrive whole, and its answers are faulty."""
    for way, where in (
        ("local", {"calls": "pread", "count": "each", "rank": 1}),
        ("put_back", {"calls": "MPI_Put", "rank": 0}),
        ("send_back", {"calls": "MPI_Recv", "rank": 1}),
        ("get_and_write", {"calls": "MPI_Get", "rank": 0}),
    ):
        options = (f"--way={way}", "--server=process", disk, SIZE)
        with_fault_everywhere(reads, fault, *FEW, *options, **where)


def test_a_file_that_stays_in_the_page_cache_is_not_called_cold(reads, disk, tmp_path):
    cold = ("--cache=cold", "--way=local,send_back", "--server=process")
    of_tmpfs = reads.launch(*FEW, "--storage=tmpfs", *cold)
    variables = preloaded(KEEPS_PAGES, tmp_path)
    of_disk = reads.launch(*FEW, disk, *cold, variables=variables)
    for run in (of_tmpfs, of_disk):
        assert set(run.statuses.values()) == {"unsupported"}
        for result in run.results.values():
            said = result["detail"]
            assert said.startswith("the file stays in the page cache (")
            assert said.endswith("): asked for none of it, found 100 %")
            assert (result["series"], result["verification"]) == ([], [])


def test_a_server_thread_needs_its_thread_level(reads, disk):
    run = reads.launch(*FEW, disk, "--way=put_back", "--server=thread")
    provided = run.lines[0]["thread_level"]["provided"]
    for result in run.results.values():
        if provided != "multiple":
            assert result["status"] == "unsupported"
            assert "MPI_THREAD_MULTIPLE: asked for single, provided" in result["detail"]


def test_a_size_that_is_no_multiple_of_eight_is_unsupported(reads, disk):
    run = reads.launch(*FEW, disk, "--size_bytes=100", "--server=process")
    assert {result["detail"] for result in run.results.values()} == {
        "size_bytes is 100, no multiple of 8"
    }
