"""Eager limit: how it is found, which kernels use it, and that every word is verified."""

from __future__ import annotations

import pytest

from onesided.environments import settings

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded, preloaded_mpi

LARGEST = 512
FEW_SIZES = (f"--largest-bytes={LARGEST}", "--tries=1")
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
ONCE = ("--samples=1", "--burst=1")
#: Without memory that ranks share outside MPI.
NO_PAGE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/types.h>
int shm_open(const char *name, int flags, mode_t mode)
{
    int (*next)(const char *, int, mode_t) = dlsym(RTLD_NEXT, "shm_open");
    return strncmp(name, "/onesided-", 10) == 0 ? -1 : next(name, flags, mode);
}
"""

#: Open MPI's answer where it has closed a transport: the variable has a name, but no value.
CLOSED = """
#include <mpi.h>
int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *value)
{
    (void)handle;
    (void)value;
    return MPI_T_ERR_INVALID_INDEX;
}
"""

#: A known limit: sends of more bytes are synchronous.
KNOWN = 100
#: A send of more bytes than LIMIT is synchronous.
LIMITED_SEND = """
#include <mpi.h>
int MPI_Send(const void *sent, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    return (count * bytes > LIMIT ? PMPI_Ssend : PMPI_Send)(sent, count, type, to, tag, comm);
}
"""
#: Of successive messages with the limit's size, the first ROOM messages find room.
ROOM = 7
FULL_BUFFER = """
#include <mpi.h>
int MPI_Send(const void *sent, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    static int alike = 0;
    alike = count == LIMIT ? alike + 1 : 0;
    return (count > LIMIT || alike > ROOM ? PMPI_Ssend : PMPI_Send)(sent, count, type, to, tag,
                                                                    comm);
}
"""
#: Each send sleeps first: its rank does not compute meanwhile, like a rank that has lost its core.
SLEEPING_SEND = """
#include <mpi.h>
#include <unistd.h>
int MPI_Send(const void *sent, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    usleep(20000);
    return PMPI_Send(sent, count, type, to, tag, comm);
}
"""
#: Cells at the eager limit, for the kernels that find the limit.
AROUND = {
    "two_way_exchange": "interface=sendrecv;size_bytes=at_limit,above_limit",
    "alltoall_algorithms": "interface=alltoall;size_bytes=at_limit,above_limit",
    "in_place_all_to_all": "way=alltoall;size_bytes=at_limit,above_limit",
}


@pytest.fixture(scope="module")
def eager_limit(each):
    return each("eager_limit")


def tried(result):
    """Return whether each size returned early, by size, from a cell's result."""
    sizes, returned = (samples(result, name)[0] for name in ("tried_bytes", "returned"))
    return dict(zip(sizes, returned, strict=True))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_of_a_tried_size_that_is_lost_stale_or_altered_is_found(eager_limit, fault):
    with_fault_everywhere(eager_limit, fault, *FEW_SIZES)


def test_a_synchronous_send_never_returns_before_its_receive(eager_limit):
    run = eager_limit.launch(*FEW_SIZES, "--call=ssend")
    for result in run.results.values():
        assert samples(result, "limit") == {0: [0]}
        assert tried(result) == {1 << power: 0 for power in range(10)}
        # one try for each size, each with all its words
        assert verified(result)["message"] == (1 + 1 + 1 + 1 + sum(2**n for n in range(1, 7)), 0)


def test_the_limit_of_a_send_is_found_to_a_byte(eager_limit):
    run = eager_limit.launch("--call=send", "--largest-bytes=16384", "--receiver=in_mpi")
    (result,) = run.results.values()
    found, (limit,) = tried(result), samples(result, "limit")[0]
    assert {1 << power for power in range(15)} <= found.keys()
    assert found[limit] == 1
    assert limit == max(size for size, returned in found.items() if returned)
    assert limit == 16384 or found[limit + 1] == 0


@pytest.mark.every_mpi
def test_settings_raise_and_lower_the_limit(eager_limit):
    document = eager_limit.environment.document

    def limit(setting):
        value = settings.value(setting, document["family"], document["version"])
        if value.unavailable:
            return None
        options = ("--call=send", "--receiver=in_mpi", "--largest-bytes=131072")
        run = eager_limit.launch(*options, variables=value.variables)
        (result,) = run.results.values()
        return samples(result, "limit")[0][0]

    raised, lowered = limit("eager_raised"), limit("eager_lowered")
    if document["family"] == "impi":
        assert (raised, lowered) == (None, None)
    else:
        assert lowered <= 256 < limit("default") < 65536 - 128 <= raised < 65536


@pytest.mark.every_mpi
def test_a_limit_that_the_library_does_not_read_is_left_out(eager_limit, tmp_path):
    def metrics(variables):
        options = (*FEW_SIZES, "--call=send", "--receiver=in_mpi")
        (result,) = eager_limit.launch(*options, variables=variables).results.values()
        return {one["metric"] for one in result["series"]}

    source = tmp_path / "closed.c"
    source.write_text(CLOSED, "utf-8")
    closed = preloaded_mpi(source, eager_limit.environment, tmp_path)
    left_out = metrics({}) - metrics(closed)
    assert left_out
    assert all(name.startswith(("mpir_cvar_", "btl_")) for name in left_out)


def test_without_shared_memory_the_senders_own_clock_decides(eager_limit, tmp_path):
    variables = preloaded(NO_PAGE, tmp_path)
    options = ("--call=send,ssend", "--receiver=in_mpi", "--largest-bytes=4", "--tries=5")
    run = eager_limit.launch(*options, "--delay-ms=20", variables=variables)
    send, ssend = run.results.values()
    assert tried(send) == {1: 1, 2: 1, 4: 1}
    # nobody sees which sends have returned
    assert unanswered(send) == [{}, {}, {}]
    assert tried(ssend) == {1: 0, 2: 0, 4: 0}


def unanswered(result):
    names = ("unanswered", "unanswered_bytes", "unanswered_waited")
    return [samples(result, name) for name in names]


@pytest.mark.parametrize("receiver", ["in_mpi", "outside"])
def test_unanswered_messages_are_counted_until_a_send_waits(
    eager_limit, environment, tmp_path, receiver
):
    source = tmp_path / "full_buffer.c"
    source.write_text(f"#define LIMIT {KNOWN}\n#define ROOM {ROOM}\n{FULL_BUFFER}", "utf-8")
    run = eager_limit.launch(
        *FEW_SIZES, "--call=send", f"--receiver={receiver}",
        variables=preloaded_mpi(source, environment, tmp_path),
    )  # fmt: skip
    (result,) = run.results.values()
    assert unanswered(result) == [{0: [ROOM]}, {0: [ROOM * KNOWN]}, {0: [1]}]
    of_search = sum(-(-size // 8) for size in samples(result, "tried_bytes")[0])
    # also the message that waited, and the number of messages
    assert verified(result)["message"] == (of_search + (ROOM + 1) * -(-KNOWN // 8) + 1, 0)


def test_no_more_bytes_are_sent_unanswered_than_are_allowed(eager_limit, limited):
    options = ("--call=send", "--receiver=in_mpi", f"--unanswered-bytes={ROOM * KNOWN + 1}")
    run = eager_limit.launch(*FEW_SIZES, *options, variables=limited(KNOWN))
    (result,) = run.results.values()
    assert unanswered(result) == [{0: [ROOM]}, {0: [ROOM * KNOWN]}, {0: [0]}]


@pytest.mark.slow
def test_three_ranks_find_a_limit_and_the_third_waits(eager_limit):
    run = eager_limit.launch(*FEW_SIZES, "--delay-ms=10", ranks=3)
    assert set(run.statuses.values()) == {"ok"}
    assert all(samples(result, "limit").keys() == {0} for result in run.results.values())


def used(run):
    """Return the sizes in bytes that stand for the words of the cells, in the order of cells."""
    return [samples(result, "used_bytes") for result in run.results.values()]


@pytest.fixture
def limited(environment, tmp_path):
    """Return the variables for a launch whose sends of more bytes than a limit are synchronous."""

    def variables(limit):
        source = tmp_path / f"limited_{limit}.c"
        source.write_text(f"#define LIMIT {limit}\n{LIMITED_SEND}", "utf-8")
        return preloaded_mpi(source, environment, tmp_path)

    return variables


@pytest.mark.one_case("kernel")
@pytest.mark.parametrize("kernel", AROUND)
def test_sizes_at_the_limit_are_of_the_limit_that_eager_limit_finds(each, eager_limit, kernel):
    (found,) = eager_limit.launch("--call=send", "--receiver=in_mpi").results.values()
    (limit,) = samples(found, "limit")[0]
    run = each(kernel).launch(*FEW, f"--cells={AROUND[kernel]}")
    if limit == 65536:  # all sends return
        assert set(run.statuses.values()) == {"unsupported"}
        return
    at_limit = limit - limit % 8
    assert used(run) == [{0: [at_limit]}, {0: [at_limit + 8]}]
    checked = {"two_way_exchange": 2, "alltoall_algorithms": 4, "in_place_all_to_all": 4}[kernel]
    for result, size in zip(run.results.values(), (at_limit, at_limit + 8), strict=True):
        name = "block" if kernel == "in_place_all_to_all" else "message"
        passes, errors = verified(result)[name]
        assert passes % (checked * size / 8) == 0
        assert errors == 0


def test_the_limit_is_searched_for_once_and_every_byte_of_the_search_is_verified(each, limited):
    run = each("two_way_exchange").launch(
        *FEW, f"--cells={AROUND['two_way_exchange']}", "--largest-bytes=512",
        variables=limited(KNOWN),
    )  # fmt: skip
    assert used(run) == [{0: [96]}, {0: [104]}]
    first, second = (verified(result) for result in run.results.values())
    assert first["late message"][0] > 0
    assert first["late message"][1] == 0
    assert "late message" not in second


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (512, "no eager limit up to 512 bytes: sends of all sizes return with no receive posted"),
        (0, "no eager limit: no send of 8 bytes or more returns with no receive posted"),
    ],
)
def test_without_a_limit_the_cells_at_it_are_unsupported(each, limited, limit, reason):
    for kernel, cells in AROUND.items():
        run = each(kernel).launch(
            *FEW, f"--cells={cells}", "--largest-bytes=1000", variables=limited(limit)
        )
        results = run.results.values()
        assert {(one["status"], one["detail"]) for one in results} == {("unsupported", reason)}
        assert used(run) == [{}, {}]


def test_a_sender_without_a_core_makes_no_limit(each, environment, tmp_path):
    source = tmp_path / "sleeping_send.c"
    source.write_text(SLEEPING_SEND, "utf-8")
    run = each("eager_limit").launch(
        "--call=send", "--receiver=in_mpi", "--largest-bytes=64", "--delay-ms=3",
        variables=preloaded_mpi(source, environment, tmp_path),
    )  # fmt: skip
    (result,) = run.results.values()
    assert samples(result, "limit") == {0: [64]}


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("ranks", "vector", "matrix"), [(2, 1 << 18, 1 << 18), (3, 174760, 116504)]
)
def test_blocks_of_a_vector_and_of_a_matrix_shrink_with_the_ranks(each, ranks, vector, matrix):
    cells = "--cells=interface=alltoall;size_bytes=of_vector,of_matrix"
    run = each("alltoall_algorithms").launch(*ONCE, cells, ranks=ranks)
    assert used(run) == [{0: [vector]}, {0: [matrix]}]
    for result, size in zip(run.results.values(), (vector, matrix), strict=True):
        assert verified(result)["message"] == (5 * ranks**2 * size / 8, 0)


@pytest.mark.slow
def test_a_search_may_take_longer_than_a_cell(each, limited):
    run = each("two_way_exchange").launch(
        *FEW, "--cells=interface=sendrecv;size_bytes=at_limit", "--cell-timeout-s=2",
        "--largest-bytes=512", "--delay-ms=400", variables=limited(KNOWN),
    )  # fmt: skip
    assert set(run.statuses.values()) == {"ok"}


@pytest.mark.slow
def test_three_ranks_use_the_limit_that_two_of_them_find(each, limited):
    run = each("in_place_all_to_all").launch(
        *FEW, f"--cells={AROUND['in_place_all_to_all']}", variables=limited(KNOWN), ranks=3
    )
    assert used(run) == [{0: [96]}, {0: [104]}]
