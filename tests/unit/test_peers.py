"""The input of `make peers`, its end, and the words of its page about a ratio."""

import json
import sys

import pytest

from onesided.system.errors import InputError
from onesided.system.paths import project_root

IMB = """
# Benchmarking Unidir_put
# #processes = 2
#    MODE: NON-AGGREGATE
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         2000         0.04         0.00
            8         2000         0.17        47.06
      1048576         2000       223.46      4692.44

# Benchmarking Fetch_and_op
       #bytes #repetitions      t[usec]   Mbytes/sec
            4         2000         0.62         6.48
"""
OSU = """
# OSU MPI_Put Latency Test v6.1
# Size          Latency (us)
8                       0.21
16                      0.22
32                      0.22
64                      0.23
"""
DOCUMENT = {
    "schema": "onesided/peers/1",
    "environment": "mpich-5.0.2",
    "library_version": "MPICH 5.0.2",
    "peer": "one_sided",
    "end": "6 pairs",
    "ours_us": {},
    "theirs_us": {},
}


@pytest.fixture
def benchmark(monkeypatch):
    """Return a function that imports a module of benchmarks/."""
    monkeypatch.syspath_prepend(project_root() / "benchmarks")
    yield lambda name: __import__(name)
    for name in ("launches", "messages", "one_sided", "peers", "peers_page"):
        sys.modules.pop(name, None)


@pytest.fixture
def pairs(benchmark):
    """Return a function that makes pairs with these ratios of an accumulate."""
    peers = benchmark("peers")

    def made(ratios, alike=(), plain=(), repeated=()):
        one_sided, found = benchmark("one_sided"), peers.Pairs()
        others = {f"OSU, {one_sided.SAME_ELEMENTS}": alike, one_sided.PLAIN_OURS: plain}
        others[one_sided.PLAIN_THEIRS] = repeated
        for number, ratio in enumerate(ratios):
            measured = {"ours": {"accumulate 8": ratio}, "OSU": {"accumulate 8": 1.0}}
            for name, over in others.items():
                if over:
                    measured[name] = {"accumulate 8": ratio / over[number]}
            found.add(measured, "ours")
        return found

    return made


@pytest.fixture
def page(benchmark, pairs, tmp_path):
    """Return a function that writes the page of such pairs and returns the rows of its table."""

    def rows(*ratios):
        found = pairs(*ratios)
        measured = {"ours_us": found.ours, "theirs_us": found.theirs}
        (tmp_path / "one.json").write_text(json.dumps(DOCUMENT | measured))
        path = benchmark("peers_page").build(tmp_path)
        assert "MPICH 5.0.2. It ended: 6 pairs." in path.read_text()
        return (tmp_path / "peers_mpich-5.0.2-one_sided.csv").read_text().splitlines()[1:]

    return rows


def test_a_time_of_imb_has_the_digits_of_its_bandwidth(benchmark):
    found = benchmark("one_sided").parse_imb(IMB)
    assert found["put 8"] == pytest.approx(8 / 47.06)
    assert found["put 1048576"] == pytest.approx(223.46, rel=1e-4)
    assert found["fetch_and_op 8"] == pytest.approx(4 / 6.48)
    assert found.keys() == {"put 8", "put 1048576", "fetch_and_op 8"}


def test_of_osu_the_sizes_are_taken_that_ours_has(benchmark):
    assert benchmark("one_sided").parse_osu(OSU, "put", (8, 64, 512)) == {
        "put 8": 0.21,
        "put 64": 0.23,
    }


def test_a_ratio_is_of_one_pair_and_told_when_its_interval_is_narrow(benchmark, pairs):
    peers = benchmark("peers")
    (ratios,) = pairs([2.0, 2.2, 1.8]).ratios().values()
    assert ratios == [2.0, 2.2, 1.8]
    assert not peers.is_narrow([1.0] * 5), "five values have no interval"
    assert peers.is_narrow([1.0, 1.01, 0.99] * 3)
    assert not peers.is_narrow([1.0, 1.1, 0.9] * 3)


@pytest.mark.parametrize(
    ("ratios", "alike", "plain", "repeated", "word"),
    [
        ([1.02] * 6, (), (), (), "the same"),
        ([0.5] * 6, (), (), (), "not explained"),
        ([0.5] * 6, [1.0] * 6, (), (), "the elements: with ours it is the same"),
        ([0.5] * 6, [0.7] * 6, (), (), "not explained"),
        ([2.5] * 6, (), [1.0] * 6, (), "new messages: a plain loop over such"),
        ([2.5] * 6, [1.0] * 6, [1.0] * 6, (), "the elements: with ours it is the same"),
        ([2.5] * 6, [1.2] * 6, [1.0] * 6, (), "the elements and new messages: a plain loop"),
        ([2.5] * 6, (), [0.8] * 6, (), "new messages: a plain loop over such"),
        ([0.5] * 6, (), [1.2] * 6, (), "new messages: a plain loop over such"),
        ([0.5] * 6, (), [0.8] * 6, (), "not explained"),
        ([2.5] * 6, (), [1.2] * 6, (), "not explained"),
        ([2.5] * 6, (), [0.9, 1.0, 1.1, 1.2, 1.2, 1.3], (), "not told: the plain loop's interval"),
        ([2.5] * 6, (), [1.0] * 6, [1.0] * 6, "the other's own: a plain loop over one message"),
        ([2.5] * 6, (), [1.0] * 6, [2.0] * 6, "new messages: a plain loop over such"),
        ([0.5] * 6, (), [1.0] * 6, [1.2] * 6, "the other's own: a plain loop over one message"),
        ([0.5] * 6, [0.7] * 6, [1.0] * 6, [1.0] * 6, "the elements and new messages"),
        ([0.7, 0.8, 0.9, 0.9, 1.1, 1.2], (), (), (), "not told: the interval reaches"),
        (
            [0.7, 0.8, 0.9, 0.9, 1.1, 1.2],
            (),
            [1.0] * 6,
            (),
            "the same or new messages: a plain loop",
        ),
        ([0.7, 0.8, 0.9, 0.9, 1.1, 1.2], (), [0.8] * 6, (), "not told: the interval reaches"),
    ],
)
def test_the_page_says_what_a_ratio_comes_from(page, ratios, alike, plain, repeated, word):
    (row,) = page(ratios, alike, plain, repeated)
    assert word in row


class BrokenError(Exception):
    """Ends a run in the middle of a pair."""


@pytest.fixture
def run(benchmark, monkeypatch, tmp_path):
    """Return a function that compares with a made-up program until there are so many pairs."""
    peers = benchmark("peers")
    monkeypatch.setenv("ONESIDED_RESULTS", str(tmp_path))
    monkeypatch.setattr(peers, "wait_for_quiet", lambda: True)
    document = {"library_version": "MPICH 5.0.2", "name": "mpich-5.0.2"}
    monkeypatch.setattr(peers.Mpi, "of", lambda *_: peers.Mpi(document, tmp_path))

    def called(most_pairs, breaks_in=0):
        calls = []

        def others(_):
            calls.append(1)
            if len(calls) == breaks_in:
                raise BrokenError
            return {"put 8": 1.0 + 0.5 * (len(calls) % 2)}

        peer = peers.Peer(["progress"], lambda _: {"put 8": 2.0}, lambda _: {"OSU": others})
        monkeypatch.setitem(peers.PEERS, "one_sided", peer)
        peers.compare("mpich-5.0.2", "one_sided", most_pairs, 1)
        return json.loads((tmp_path / "peers" / "mpich-5.0.2-one_sided.json").read_text())

    return called


def test_pairs_stay_when_a_run_is_broken_off_and_the_next_one_adds_to_them(run, tmp_path):
    with pytest.raises(BrokenError):
        run(7, breaks_in=4)
    broken = json.loads((tmp_path / "peers" / "mpich-5.0.2-one_sided.json").read_text())
    assert (broken["end"], broken["ours_us"]) == ("it was broken off", {"put 8": [2.0] * 3})
    whole = run(7)
    assert (whole["end"], len(whole["ours_us"]["put 8"])) == ("7 pairs", 7)
    assert whole["theirs_us"]["OSU"]["put 8"][:3] == broken["theirs_us"]["OSU"]["put 8"]
    assert run(7) == whole, "there are as many as are asked for"


def test_pairs_of_another_library_are_not_pooled(run, benchmark, monkeypatch):
    run(3)
    monkeypatch.setattr(benchmark("peers"), "measured_with", lambda *_: "another")
    assert len(run(2)["ours_us"]["put 8"]) == 2


def test_a_comparison_of_another_schema_is_refused(benchmark, tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(DOCUMENT | {"schema": "onesided/peers/0"}))
    with pytest.raises(InputError, match="onesided/peers/0"):
        benchmark("peers_page").build(tmp_path)
