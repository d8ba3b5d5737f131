"""Claims about numbers of ranks: which are asked for, which have a meaning, which share cores."""

from __future__ import annotations

import pytest

from onesided.campaign import campaign, ranks
from onesided.campaign.ranks import Nodes
from onesided.system.errors import InputError

TWO_CORES, MANY_CORES = Nodes(2), Nodes(128)
EIGHT_NODES = Nodes(64, per_node=32, number=8)
DEFAULT = (2, 4, 8)


@pytest.mark.parametrize(
    ("asked", "nodes", "expected"),
    [
        (None, TWO_CORES, [2, 4, 8]),
        ([16, 3], TWO_CORES, [3, 16]),
        ({"list": [16, 3]}, TWO_CORES, [3, 16]),
        ({"powers_of_two_up_to": 20}, TWO_CORES, [2, 4, 8, 16]),
        ({"powers_of_two_up_to": "cores"}, TWO_CORES, [2]),
        ({"powers_of_two_up_to": "cores"}, MANY_CORES, [2, 4, 8, 16, 32, 64, 128]),
        ({"powers_of_two_up_to": "cores"}, EIGHT_NODES, [2, 4, 8, 16, 32, 64, 128, 256, 512]),
        ({"powers_of_two_up_to": 4, "list": [3]}, TWO_CORES, [2, 3, 4]),
        ({"max": 4}, TWO_CORES, [2, 4]),
        ({"list": [2, 64], "max": 4}, TWO_CORES, [2]),
        ({"per_node": 4}, TWO_CORES, [2, 4, 8]),
    ],
)
def test_the_numbers_that_are_asked_for_replace_the_default(asked, nodes, expected):
    assert ranks.numbers(ranks.entries(asked), DEFAULT, nodes) == expected


def test_what_a_campaign_asks_for_replaces_what_the_partition_asks_for():
    partition = {"powers_of_two_up_to": "cores", "max": 64, "per_node": 8}
    assert ranks.merged(partition, {}) == partition
    assert ranks.merged(partition, {"list": [3]}) == {"list": [3], "max": 64, "per_node": 8}
    assert ranks.merged(partition, {"max": 4}) == {**partition, "max": 4}


@pytest.mark.parametrize("cores", [1, 2, 4, 16, 128])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 8, 16, 64, 256])
def test_ranks_are_crowded_if_and_only_if_a_node_has_no_core_for_each(cores, number):
    assert (Nodes(cores).load(number) > 1) == (number > cores)
    # with few ranks on each node, only the ranks of a node share its cores
    assert (Nodes(cores, per_node=2).load(number) > 1) == (min(2, number) > cores)


def test_helpers_and_threads_of_ranks_need_cores_too():
    assert TWO_CORES.load(2) == 1
    assert TWO_CORES.load(2, helpers=1) == 1.5
    assert TWO_CORES.load(2, threads=4) == 4
    assert MANY_CORES.load(2, helpers=1) < 1


def test_more_cores_never_give_fewer_repetitions_and_more_ranks_never_give_more():
    def trials(number, cores):
        return ranks.fewer_the_more_crowded(51, 5, 3, Nodes(cores).load(number))

    for number in (2, 4, 8, 16, 64, 128, 512):
        by_cores = [trials(number, cores) for cores in (1, 2, 4, 8, 16, 64, 128, 512)]
        assert by_cores == sorted(by_cores)
        assert by_cores[0] >= 3 and by_cores[-1] == 51
    by_ranks = [trials(number, 2) for number in (2, 4, 8, 16, 32)]
    assert by_ranks == [51, 5, 4, 3, 3]


@pytest.mark.parametrize(
    ("limits", "right", "wrong", "said"),
    [
        ((2, None, 1), [2, 3, 256], [1], "expected 2 or more"),
        ((2, 2, 1), [2], [1, 3, 4], "expected 2"),
        ((3, None, 1), [3, 4], [2], "expected 3 or more"),
        ((2, None, 2), [2, 4, 256], [3, 1], "expected 2 or more, a multiple of 2"),
        ((1, 8, 1), [1, 8], [9], "expected 1 to 8"),
    ],
)
def test_a_number_without_a_meaning_has_a_reason(limits, right, wrong, said):
    for number in right:
        assert ranks.reason_against(number, *limits) is None
    for number in wrong:
        assert ranks.reason_against(number, *limits) == f"found {number} ranks; {said}"


@pytest.mark.parametrize(
    ("asked", "field", "expected"),
    [
        ([], "ranks: found []", "a list of different whole numbers"),
        ([2, 2], "ranks: found [2, 2]", "a list of different whole numbers"),
        ([0], "ranks.0: found 0", "a whole number from 1 to 1048576"),
        ({"max": 0}, "ranks.max: found 0", "a whole number from 1 to 1048576"),
        ({"up_to": 3}, "ranks.up_to: found an unknown key", "list, powers_of_two_up_to, max"),
        ({"powers_of_two_up_to": "core"}, "ranks.powers_of_two_up_to: found 'core'", "or cores"),
        (16, "ranks: found 16", "a list of numbers, or a mapping"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(campaign_file, asked, field, expected):
    with pytest.raises(InputError) as fault:
        campaign.load(str(campaign_file(ranks=asked)))
    assert field in str(fault.value) and expected in str(fault.value)
