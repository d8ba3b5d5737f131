"""Memory models, ordering, window growth: verified data in each idiom, and refused requests."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS, TWO_AND_THREE
from .launching import preloaded

FLAVORS = "flavor=create,allocate"
IDIOMS = {
    "memory_model": "exclusive_locks,shared_locks,lock_all,lock_all_request",
    "ordering": "exclusive_epochs,shared_epochs,flush,request,ordered_accumulates,"
    "unordered_accumulates",
}
STATES = {
    "memory_model": [
        "target_state=idle,computes",
        "target_state=accesses;interval_us=200",
    ],
    "ordering": ["target_state=idle,computes"],
    "window_growth": ["target_state=idle,computes"],
}
METHODS = {"create", "allocate", "allocate_shared", "attach"}
#: Bursts of three after four cold bursts of three; two meetings.
FEW = ("--samples=3", "--burst=3", "--budget-s=60", "--computing-samples=2", "--compute-ms=2")
BURSTS, BURST, MEETINGS = 4 + 3, 3, 2
#: Without these names, the faulty library takes accumulates that replace for words, not payloads.
CALLS = {"ordering": "MPI_Put,MPI_Rput,MPI_Accumulate"}
ELEMENTS = 5
SEPARATE = """
#include <dlfcn.h>
int PMPI_Win_get_attr(int, int, void *, int *);
int MPI_Win_get_attr(int window, int key, void *value, int *found)
{
    static int separate = 1;
    const int code = PMPI_Win_get_attr(window, key, value, found);
    if (key == 0x66000009) *(int **)value = &separate;
    return code;
}
"""
"""MPICH, with windows of the separate memory model."""
NEVER_FLUSHES = """
int MPI_Win_flush(int rank, int window) { return 0; }
"""
"""MPICH, with a flush that completes nothing."""


def cells(name):
    """Return the options for a cell of each way, flavor and state."""
    size = f"size_bytes={8 * ELEMENTS}"
    if name == "window_growth":
        return [f"--cells=method={','.join(sorted(METHODS))};{size};{STATES[name][0]}"]
    ways = [f"idiom={IDIOMS[name]};{FLAVORS}", "idiom=stores"]
    return [f"--cells={way};{size};{state}" for way in ways for state in STATES[name]]


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_that_is_lost_stale_or_altered_is_found_in_every_way(each, name, fault):
    """Except with stores: no call carries their data (--lost-store)."""
    blocks = [one for one in cells(name) if "idiom=stores" not in one]
    with_fault_everywhere(each(name), fault, *FEW, *blocks, calls=CALLS.get(name, "any"))


def test_a_read_that_brings_nothing_is_found_where_it_may_bring_what_was_before(kernel_of):
    block = "--cells=idiom=unordered_accumulates;flavor=allocate;size_bytes=8;target_state=idle"
    run = kernel_of("ordering").launch(*FEW, block, fault="drop MPI_Get_accumulate 5 1")
    assert list(run.statuses.values()) == ["wrong_data"]


def test_a_repeat_is_found_in_bursts_of_one_element(kernel_of):
    block = "--cells=idiom=flush;flavor=allocate;size_bytes=8;target_state=idle"
    options = [one for one in FEW if not one.startswith("--burst=")]
    stale = "stale MPI_Put 5 1 0"
    run = kernel_of("ordering").launch(*options, "--burst=1", block, fault=stale)
    (result,) = run.results.values()
    assert verified(result)["at_origin"] == (BURSTS, 1)


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_every_element_that_is_read_back_is_compared(each, ranks):
    run = each("ordering").launch(*FEW, *cells("ordering"), ranks=ranks)
    for result in run.results.values():
        bursts = {"idle": BURSTS * BURST, "computes": MEETINGS}[result["labels"]["target_state"]]
        assert result["status"] == "ok"
        assert verified(result)["at_origin"] == (bursts * (ranks - 1) * ELEMENTS, 0)


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_every_element_of_both_parts_is_compared_after_each_growth(each, ranks):
    run = each("window_growth").launch(*FEW, *cells("window_growth"), ranks=ranks)
    for result in run.results.values():
        growths = {"idle": BURSTS, "computes": MEETINGS}[result["labels"]["target_state"]]
        elements = growths * ranks * ELEMENTS
        assert verified(result) == {
            "old_part": (elements, 0),
            "new_part": (elements, 0),
            "at_origin": (growths * ranks, 0),
        }


def test_parts_of_a_growth_are_those_of_its_method_and_add_up(each):
    run = each("window_growth").launch(*FEW, *cells("window_growth"))
    for result in run.results.values():
        if result["labels"]["target_state"] == "computes":
            continue
        metrics = {one["metric"] for one in result["series"]}
        if result["labels"]["method"] == "attach":
            assert metrics == {"grow", "exchange", "detach", "close"}
            continue
        assert metrics == {"grow", "make", "copy", "free", "close"}
        for rank, whole in samples(result, "grow").items():
            parts = zip(
                *(samples(result, one)[rank] for one in ("make", "copy", "free")), strict=True
            )
            assert [sum(one) for one in parts] == pytest.approx(whole, rel=1e-6, abs=1e-9)


def test_content_that_is_not_copied_is_found_where_a_window_is_re_created(each):
    run = each("window_growth").launch(*FEW, *cells("window_growth"), "--without-copy")
    assert run.ended_with(3)
    for result in run.results.values():
        attaches = result["labels"]["method"] == "attach"
        assert result["status"] == ("ok" if attaches else "wrong_data")
        checked, errors = verified(result)["old_part"]
        assert errors == (0 if attaches else checked)


def test_a_put_to_where_the_old_part_is_harms_both_parts(each):
    run = each("window_growth").launch(*FEW, *cells("window_growth"), "--old-address")
    for result in run.results.values():
        found = verified(result)
        assert found["old_part"][1] == found["old_part"][0] > 0
        assert found["new_part"][1] == found["new_part"][0] > 0


def test_a_stale_read_is_wrong_where_reads_are_ordered_and_counted_where_not(each):
    run = each("ordering").launch(*FEW, *cells("ordering"), "--stale-read")
    assert run.ended_with(3)
    for result in run.results.values():
        older = [one for own in samples(result, "older").values() for one in own]
        bursts = {"idle": BURSTS, "computes": MEETINGS}[result["labels"]["target_state"]]
        if result["labels"]["idiom"] == "unordered_accumulates":
            assert result["status"] == "ok"
            assert older == pytest.approx([1 / BURST] * len(older))
        else:
            assert verified(result)["at_origin"][1] == bursts * ELEMENTS


def test_the_info_of_the_window_asks_for_no_order_in_that_cell_alone(kernel_of):
    run = kernel_of("ordering").launch(*FEW, *cells("ordering"))
    for result in run.results.values():
        is_none = result["labels"]["idiom"] == "unordered_accumulates"
        # a library may write an empty list if nothing is ordered
        asked = result["window"]["info"]["accumulate_ordering"]
        assert (asked in ("none", "")) == is_none


@pytest.mark.parametrize("name", ["memory_model"])
def test_a_store_of_rank_0_that_is_lost_is_found_whatever_others_write(each, name):
    run = each(name).launch(*FEW, *cells(name), "--lost-store")
    assert run.ended_with(3)
    for result in run.results.values():
        assert verified(result)["own_part"][1] == 1
        assert verified(result)["at_target"][1] == 0


def test_rank_0_ends_after_its_most_epochs_and_says_that_others_still_wrote(kernel_of):
    block = "--cells=idiom=exclusive_locks;flavor=allocate;interval_us=2000;target_state=accesses"
    options = ["--samples=3", "--burst=5", "--budget-s=60", block]
    kernel = kernel_of("memory_model")
    (cut,) = kernel.launch(*options, "--epochs=1").results.values()
    assert (samples(cut, "cut")[0], samples(cut, "epochs")[0]) == ([1, 1, 1], [1, 1, 1])
    assert cut["status"] == "ok"
    (whole,) = kernel.launch(*options, "--epochs=1000").results.values()
    assert samples(whole, "cut")[0] == [0, 0, 0]
    # the number of writes between two epochs depends on the machine
    assert max(samples(whole, "epochs")[0]) > 1


def test_the_unified_idioms_are_refused_on_a_window_of_the_separate_model(kernel_of, tmp_path):
    variables = preloaded(SEPARATE, tmp_path)
    run = kernel_of("memory_model").launch(*FEW, *cells("memory_model"), variables=variables)
    for result in run.results.values():
        assert result["window"]["model"] == "separate"
        if result["labels"]["idiom"] == "exclusive_locks":
            assert result["status"] == "ok"
        else:
            reason = "MPI_WIN_MODEL is MPI_WIN_SEPARATE, the idiom needs MPI_WIN_UNIFIED"
            assert (result["status"], result["detail"]) == ("unsupported", reason)
            assert result["series"] == result["verification"] == []


def test_each_cell_says_the_memory_model_of_its_window(each):
    for name in STATES:
        run = each(name).launch(*FEW, *cells(name))
        assert {one["window"]["model"] for one in run.results.values()} == {"unified"}


def test_a_read_that_nothing_keeps_behind_its_write_is_found(kernel_of, tmp_path):
    variables = preloaded(NEVER_FLUSHES, tmp_path)
    block = f"--cells=idiom=flush;flavor=create;size_bytes={8 * ELEMENTS};target_state=idle"
    (result,) = kernel_of("ordering").launch(*FEW, block, variables=variables).results.values()
    assert result["status"] == "wrong_data"
    assert verified(result)["at_origin"][1] > 0


@pytest.mark.one_case("name")
@pytest.mark.parametrize("name", STATES)
def test_a_size_that_is_no_multiple_of_8_is_unsupported(kernel_of, name):
    way = "method=attach" if name == "window_growth" else "idiom=stores"
    block = f"--cells={way};size_bytes=12;target_state=idle"
    (result,) = kernel_of(name).launch(*FEW, block).results.values()
    reason = "size_bytes is 12, no multiple of 8"
    assert (result["status"], result["detail"]) == ("unsupported", reason)
