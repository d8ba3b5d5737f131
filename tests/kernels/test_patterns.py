"""The five patterns: which rank has which part, how a lost message is found, who computes."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import ENVIRONMENTS, FAULTS, OPENSHMEM, SLOW

PATTERNS = ("distant_messages", "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all")
#: One cell for each way in which a pattern is written; axes without a meaning have one value.
INTERFACES = {
    "mpi2": "interface=mpi2;flavor=create,allocate",
    "mpi2_pairwise": "interface=mpi2_pairwise;flavor=create,allocate",
    "mpi3": "interface=mpi3;flavor=create,allocate,shared,dynamic",
    "two_sided": "interface=two_sided",
    "collective": "interface=collective",
    "shmem": "interface=shmem",
}
RIVALS = {"distant_messages": "two_sided", "right_shift": "two_sided"}
FEW = ("--trials=3", "--computing-trials=3", "--compute-ms=2", "--cache-bytes=0")


def interfaces_of(name, environment):
    if environment.name == OPENSHMEM:
        return ["shmem"]
    pairwise = ["mpi2_pairwise"] if name == "tree_broadcast" else []
    return ["mpi2", *pairwise, "mpi3", RIVALS.get(name, "collective")]


def cells(name, environment, rest="size_bytes=80"):
    """Return the options for a pattern's cells on every interface and flavor."""
    chosen = [INTERFACES[one] for one in interfaces_of(name, environment)]
    return [f"--cells={one};{rest}" for one in chosen]


@pytest.fixture(scope="module", params=PATTERNS)
def name(request):
    return request.param


@pytest.fixture(
    scope="module",
    params=[ENVIRONMENTS[0], pytest.param(OPENSHMEM, marks=SLOW)],
)
def pattern(request, name, kernel_of):
    """Each pattern under the first MPI; in CI also under OpenSHMEM."""
    return kernel_of(name, request.param)


@pytest.mark.one_case
def test_a_trial_counts_once_whoever_was_slowest(pattern, name):
    run = pattern.launch(*FEW, *cells(name, pattern.environment))
    assert set(run.statuses.values()) == {"ok"}
    for result in run.results.values():
        times = samples(result, "time")
        assert times.keys() == {0}
        assert len(times[0]) == 3
        assert min(times[0]) > 0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_that_is_lost_stale_or_altered_is_found_under_every_interface(
    pattern, name, fault
):
    options = (*FEW, *cells(name, pattern.environment))
    run = with_fault_everywhere(pattern, fault, *options, count="each")
    for result in run.results.values():
        # in each of the three trials: one element is altered, or all ten are lost or stale
        assert verified(result)["message"][1] >= (3 if fault == "alter" else 30)


@pytest.mark.slow
def test_all_of_three_ranks_get_all_their_messages(pattern, name):
    run = pattern.launch(*FEW, *cells(name, pattern.environment), ranks=3)
    messages = {"distant_messages": 1, "right_shift": 3, "all_to_all": 6}.get(name, 2)
    for result in run.results.values():
        # MPI_Alltoall also copies what each of the three ranks sends to itself
        own = 3 if name == "all_to_all" and result["labels"]["interface"] == "collective" else 0
        # a rank of the tree that gets compares its notice, too
        pairwise = result["labels"]["interface"] == "mpi2_pairwise"
        notices = 2 if pairwise and result["labels"]["operation"] == "get" else 0
        assert verified(result) == {"message": (((messages + own) * 10 + notices) * 3, 0)}


@pytest.mark.one_case
def test_one_rank_computes_and_the_others_say_whether_they_need_its_calls(pattern, name):
    options = cells(name, pattern.environment, "size_bytes=8;target_state=computes")
    run = pattern.launch(*FEW, *options)
    for result in run.results.values():
        labels = result["labels"]
        assert result["status"] == "ok"
        assert samples(result, "time") == {}
        computing = int(name == "distant_messages" or labels.get("operation") == "put")
        assert samples(result, "compute").keys() == {computing}
        # fixed work: shorter if the core was slow during calibration
        assert min(samples(result, "compute")[computing]) > 0.5 * 2e-3
        behind = samples(result, "behind")
        assert behind.keys() == samples(result, "access").keys() == {1 - computing}
        # the computing rank itself calls a fence, a receive or a collective call; a root also tells
        # a rank that gets, and waits for the post before its start
        called = labels["interface"] in ("mpi2", "mpi2_pairwise", "two_sided", "collective")
        called = called or labels.get("operation") == "get"
        assert set(behind[1 - computing]) == {int(called)}


def test_the_ranks_below_an_inner_node_of_a_tree_need_it_and_the_others_do_not(kernel_of):
    tree = kernel_of("tree_broadcast")
    block = (
        "interface=mpi3,mpi2_pairwise;flavor=allocate;operation=get,put;size_bytes=8;"
        "target_state=computes"
    )
    run = tree.launch(*FEW, f"--cells={block}", ranks=4)
    assert len(run.results) == 4
    for result in run.results.values():
        assert samples(result, "compute").keys() == {2}
        behind = {rank: set(values) for rank, values in samples(result, "behind").items()}
        labels = result["labels"]
        # the root starts an access to all its children, so each child has to post
        starts = labels["interface"] == "mpi2_pairwise" and labels["operation"] == "put"
        assert behind == {0: {int(starts)}, 1: {0}, 3: {1}}


@pytest.mark.parametrize("number", [1, 3])
def test_a_notice_that_a_rank_does_not_receive_is_found_in_the_last_trial_too(kernel_of, number):
    block = "interface=mpi2_pairwise;flavor=allocate;operation=get;size_bytes=8"
    run = kernel_of("tree_broadcast").launch(
        *FEW, f"--cells={block}", fault=f"drop MPI_Recv {number} 1"
    )
    assert list(run.statuses.values()) == ["wrong_data"]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("interface=mpi3;target=2;size_bytes=8", "rank 2 is asked for: found 2 ranks"),
        ("interface=mpi3;size_bytes=12", "size_bytes is 12, no multiple of 8"),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(kernel_of, block, reason):
    run = kernel_of("distant_messages").launch(*FEW, f"--cells={block};flavor=allocate")
    (result,) = run.results.values()
    assert (result["status"], result["detail"]) == ("unsupported", reason)


def test_what_is_flushed_before_a_trial_is_recorded(kernel_of):
    kernel = kernel_of("right_shift")
    block = "--cells=interface=mpi3;flavor=allocate;size_bytes=8"
    flushed = {}
    for option in ([], ["--cache-bytes=65536"]):
        (result,) = kernel.launch("--trials=2", block, *option).results.values()
        flushed[bool(option)] = samples(result, "flushed_bytes")[0]
    assert flushed[True] == [65536]
    assert flushed[False][0] > 0


@pytest.mark.one_case("by", "mpi")
@pytest.mark.parametrize("by", ["get", "put"])
@pytest.mark.parametrize("mpi", [ENVIRONMENTS[0], OPENSHMEM])
def test_each_of_many_messages_in_a_trial_is_verified(kernel_of, mpi, by):
    kernel = kernel_of("distant_messages", mpi)
    options = [*FEW, "--messages=20", f"--by={by}", *cells("distant_messages", kernel.environment)]
    for result in kernel.launch(*options).results.values():
        assert verified(result) == {"message": (20 * 10 * 3, 0)}
    run = with_fault_everywhere(kernel, "lose", *options, count="20/20")
    for result in run.results.values():
        # of the last message of each trial
        assert verified(result) == {"message": (20 * 10 * 3, 10 * 3)}
