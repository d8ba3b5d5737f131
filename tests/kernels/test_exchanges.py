"""The three exchanges: each message is verified under each interface; all have the same map."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import ENVIRONMENTS, FAULTS, TWO_AND_THREE
from .launching import preloaded

WINDOWS = "flavor=create,allocate"
#: One cell for each way in which an exchange is written.
INTERFACES = {
    "latency_bandwidth": [
        "interface=synchronous,asynchronous",
        f"interface=put_lock_all,put_pscw,get_lock_all,get_pscw;{WINDOWS}",
    ],
    "swapped_all_to_all": [
        "interface=alltoall,alltoallw",
        f"interface=put_lock_all,put_fence;{WINDOWS}",
    ],
    "some_to_some": [
        "interface=synchronous,asynchronous;sides=double",
        f"interface=put_pscw,put_lock_all,put_fence;{WINDOWS};sides=single",
    ],
    "alltoall_algorithms": [
        "interface=ready_all,ready_others,sendrecv_ring,alltoall",
        f"interface=put_lock_all,put_fence;{WINDOWS}",
    ],
}
#: Bursts of three after four cold bursts of three: seven samples a cell.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
SAMPLES = 4 + 3
#: MPICH's MPI_Alltoall, which ends a rank whose next send is not from its last receive buffer.
NO_SWAP_ENDS = """
#include <unistd.h>
int PMPI_Alltoall(const void *, int, int, void *, int, int, int);
int MPI_Alltoall(const void *from, int m, int s, void *to, int n, int t, int communicator)
{
    static const void *last;
    if (last && from != last) _exit(99);
    last = to;
    return PMPI_Alltoall(from, m, s, to, n, t, communicator);
}
"""
#: An MPI_Rsend that ends a rank that sends to itself.
NO_OWN_SEND = """
#include <unistd.h>
int PMPI_Rsend(const void *, int, int, int, int, int);
int MPI_Comm_rank(int, int *);
int MPI_Rsend(const void *from, int n, int type, int to, int tag, int communicator)
{
    int rank;
    MPI_Comm_rank(communicator, &rank);
    if (rank == to) _exit(99);
    return PMPI_Rsend(from, n, type, to, tag, communicator);
}
"""
SIXTY_FOUR_BITS = (1 << 64) - 1


def sizes(name, size_bytes=80):
    """Return the block of a kernel's axis of sizes."""
    axis = "largest_bytes" if name == "some_to_some" else "size_bytes"
    return f"{axis}={size_bytes}"


def cells(name):
    """Return the options for cells on every interface and flavor."""
    return [f"--cells={block};{sizes(name)}" for block in INTERFACES[name]]


def numbers(seed):
    """Yield the numbers of SplitMix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & SIXTY_FOUR_BITS
        bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & SIXTY_FOUR_BITS
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & SIXTY_FOUR_BITS
        yield bits ^ (bits >> 31)


def links(seed, ranks, largest_bytes, is_double, messages=6):
    """Return the map of docs/llnl.md: source, destination and elements of each message."""
    source = numbers(seed)
    found = []
    for _ in range(ranks * messages):
        first = next(source) % ranks
        second = (first + 1 + next(source) % (ranks - 1)) % ranks
        found.append((first, second, 1 + next(source) % (largest_bytes // 8)))
    if is_double:
        found += [(b, a, 1 + next(source) % (largest_bytes // 8)) for a, b, _ in found]
    return found


def checksum(found):
    """Return the FNV-1a hash of all numbers, folded to 32 bits."""
    total = 0xCBF29CE484222325
    for number in (one for link in found for one in link):
        total = ((total ^ number) * 0x100000001B3) & SIXTY_FOUR_BITS
    return (total ^ (total >> 32)) & 0xFFFFFFFF


@pytest.fixture(scope="module", params=INTERFACES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def exchange(name, each):
    return each(name)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_that_is_lost_stale_or_altered_is_found_under_every_interface(
    exchange, name, fault
):
    run = with_fault_everywhere(exchange, fault, *FEW, *cells(name), count="each")
    for result in run.results.values():
        # the last message of each burst at both ranks, not only at the first
        assert verified(result)["message"][1] >= 2 * SAMPLES


@pytest.mark.one_case("name")
@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_every_element_of_every_message_of_every_burst_is_compared(exchange, name, ranks):
    run = exchange.launch(*FEW, *cells(name), ranks=ranks)
    for result in run.results.values():
        assert result["status"] == "ok"
        blocks = ranks**2 * 10
        elements = {
            "latency_bandwidth": 2 * 10,
            "swapped_all_to_all": blocks,
            "alltoall_algorithms": blocks,
        }.get(name)
        if elements is None:
            double = result["labels"]["sides"] == "double"
            elements = sum(one[2] for one in links(1, ranks, 80, double))
        assert verified(result)["message"] == (elements * 3 * SAMPLES, 0)
        times = samples(result, "time")
        assert times.keys() == ({0} if name == "latency_bandwidth" else set(range(ranks)))
        assert all(len(of_rank) == 3 and min(of_rank) > 0 for of_rank in times.values())


def test_each_call_sends_from_where_the_one_before_received(kernel_of, tmp_path):
    kernel = kernel_of("swapped_all_to_all")
    variables = preloaded(NO_SWAP_ENDS, tmp_path)
    options = ["--samples=3", "--burst=1", "--cells=interface=alltoall;size_bytes=80"]
    run = kernel.launch(*options, variables=variables)
    assert (run.code, run.statuses) == (0, dict.fromkeys(run.statuses, "ok")), run.stderr
    broken = NO_SWAP_ENDS.replace("from != last", "from == last")
    (tmp_path / "broken").mkdir()
    assert kernel.launch(*options, variables=preloaded(broken, tmp_path / "broken")).code != 0


#: For each exchange, the interface whose passes have the same buffers; a block with one size.
SAME = {
    "latency_bandwidth": "--cells=interface=synchronous_same_buffers;size_bytes=80",
    "swapped_all_to_all": "--cells=interface=alltoall_same_buffers;size_bytes=80",
    "some_to_some": "--cells=interface=asynchronous_same_buffers;sides=double;largest_bytes=80",
}
#: An MPI_Send that ends a rank if its buffer differs from the last one; an MPI_Alltoall that does
#: the same for both buffers.
OTHER_BUFFER_ENDS = """
#include <unistd.h>
int PMPI_Send(const void *, int, int, int, int, int);
int PMPI_Alltoall(const void *, int, int, void *, int, int, int);
int MPI_Send(const void *from, int n, int type, int to, int tag, int communicator)
{
    static const void *first;
    if (first && from != first) _exit(99);
    first = from;
    return PMPI_Send(from, n, type, to, tag, communicator);
}
int MPI_Alltoall(const void *from, int m, int s, void *to, int n, int t, int communicator)
{
    static const void *first, *second;
    if (first && !(from == first && to == second) && !(from == second && to == first)) _exit(99);
    first = from;
    second = to;
    return PMPI_Alltoall(from, m, s, to, n, t, communicator);
}
"""


@pytest.mark.parametrize("name", ["latency_bandwidth", "swapped_all_to_all"])
def test_all_passes_have_the_same_buffers_where_a_way_says_so(kernel_of, tmp_path, name):
    variables = preloaded(OTHER_BUFFER_ENDS, tmp_path)
    run = kernel_of(name).launch(*FEW, SAME[name], variables=variables)
    assert (run.code, set(run.statuses.values())) == (0, {"ok"}), run.stderr
    own = SAME[name].replace("_same_buffers", "")
    assert kernel_of(name).launch(*FEW, own, variables=variables).code != 0


@pytest.mark.parametrize("name", SAME)
def test_the_same_buffers_are_compared_once_a_burst_and_hold_any_number_of_passes(kernel_of, name):
    options = ["--samples=3", "--burst=5", "--budget-s=60", "--burst-bytes=1", SAME[name]]
    (result,) = kernel_of(name).launch(*options).results.values()
    assert result["status"] == "ok"
    assert {one["burst"] for one in result["series"] if one["metric"] == "time"} == {5}
    messages = [one[2] for one in links(1, 2, 80, True)]
    elements = {"latency_bandwidth": 2 * 10, "swapped_all_to_all": 4 * 10}
    assert verified(result)["message"] == (SAMPLES * elements.get(name, sum(messages)), 0)
    fault = with_fault_everywhere(kernel_of(name), "alter", *FEW, SAME[name], count="each")
    assert set(fault.statuses.values()) == {"wrong_data"}


@pytest.mark.parametrize(("interface", "code"), [("ready_all", 99), ("ready_others", 0)])
def test_a_rank_sends_its_own_block_or_copies_it(kernel_of, tmp_path, interface, code):
    kernel = kernel_of("alltoall_algorithms")
    block = f"--cells=interface={interface};size_bytes=80"
    run = kernel.launch(*FEW, block, variables=preloaded(NO_OWN_SEND, tmp_path))
    assert run.code == code, run.stderr


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_the_same_seed_gives_the_same_map_under_every_mpi(kernel_of, ranks):
    block = "--cells=interface=asynchronous;sides=single,double;largest_bytes=64,4096"
    for seed in (1, 7):
        expected = {
            (sides, largest): checksum(links(seed, ranks, largest, sides == "double"))
            for sides in ("single", "double")
            for largest in (64, 4096)
        }
        for environment in ENVIRONMENTS:
            kernel = kernel_of("some_to_some", environment)
            run = kernel.launch(*FEW, block, f"--map-seed={seed}", ranks=ranks)
            found = {
                (one["labels"]["sides"], one["labels"]["largest_bytes"]): one
                for one in run.results.values()
            }
            sums = {place: samples(one, "map_checksum")[0] for place, one in found.items()}
            assert sums == {place: [one] for place, one in expected.items()}
            assert run.lines[0]["parameters"]["resolved"]["map-seed"] == seed
            for (sides, largest), one in found.items():
                drawn = links(seed, ranks, largest, sides == "double")
                assert samples(one, "pass_bytes")[0] == [8 * sum(link[2] for link in drawn)]


def test_a_listed_map_has_every_message_in_its_order(kernel_of):
    block = "--cells=interface=asynchronous;sides=double;largest_bytes=4096"
    run = kernel_of("some_to_some").launch(*FEW, block, "--list-map", "--map-seed=7", ranks=3)
    (one,) = run.results.values()
    names = ("link_source", "link_destination", "link_bytes")
    listed = zip(*(samples(one, name)[0] for name in names), strict=True)
    assert list(listed) == [(a, b, 8 * elements) for a, b, elements in links(7, 3, 4096, True)]


def test_a_map_with_a_pair_changed_is_found_before_a_pass(kernel_of):
    kernel = kernel_of("some_to_some")
    run = kernel.launch(*FEW, *cells("some_to_some"), "--changed-pair=2")
    assert run.ended_with(3)
    assert set(run.statuses.values()) == {"wrong_data"}
    for result in run.results.values():
        (found,) = result["verification"]
        assert (found["name"], found["checked"], found["errors"]) == ("map", 2, 1)
        assert samples(result, "time") == {}


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        (
            "latency_bandwidth",
            ["--cells=interface=synchronous;size_bytes=12"],
            "size_bytes is 12, no multiple of 8",
        ),
        (
            "swapped_all_to_all",
            ["--cells=interface=alltoall;size_bytes=8000", "--memory-bytes=16000"],
            "a pass needs 32000 bytes at a rank, --memory-bytes allows 16000",
        ),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(kernel_of, name, options, reason):
    (result,) = kernel_of(name).launch(*FEW, *options).results.values()
    assert (result["status"], result["detail"]) == ("unsupported", reason)


@pytest.mark.parametrize(("bytes_", "burst"), [(1600, 10), (16000, 100), (16, 1)])
def test_a_burst_has_as_many_passes_as_its_buffers_hold(kernel_of, bytes_, burst):
    options = ["--samples=2", "--burst=1000", "--budget-s=60", f"--burst-bytes={bytes_}"]
    block = "--cells=interface=synchronous;size_bytes=80"
    (result,) = kernel_of("latency_bandwidth").launch(*options, block).results.values()
    assert {one["burst"] for one in result["series"]} == {burst}
