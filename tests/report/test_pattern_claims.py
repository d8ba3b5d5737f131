"""The claims about the five patterns: a changed time reverses the outcome of each claim."""

from functools import cache

import polars as pl
import pytest
from made_up import patterns as made
from shown import materials

from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED

MPICH, SHMEM = made.ENVIRONMENTS[0].name, made.ENVIRONMENTS[-1].name


def answers(folder, kernel, change=None, ranks=(2,), **options):
    """Return the outcome of each claim about a kernel, after a change of the samples."""

    def make(own):
        environments = made.ENVIRONMENTS[0], made.ENVIRONMENTS[-1]
        made.campaign(own, environments=environments, kernels=[kernel], ranks=ranks, **options)
        if change:
            samples = pl.read_parquet(own / "samples.parquet")
            is_meant, value = change
            assert samples.filter(is_meant).height
            changed = pl.when(is_meant).then(value).otherwise(pl.col("value")).alias("value")
            samples.with_columns(changed).write_parquet(own / "samples.parquet")

    material = materials(make, folder)[kernel]
    (one,) = (one for one in material.experiment.page.contents if isinstance(one, Claims))
    (table,) = one.parts(material)
    return {row["claim"]: row for row in table.rows}


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory):
    """Return a function that gives each claim's outcome for a kernel with unchanged samples."""
    return cache(lambda kernel: answers(tmp_path_factory.mktemp(kernel), kernel))


def word(found, words):
    (row,) = (row for claim, row in found.items() if words in claim)
    return row[MPICH]


def times(factor, cell):
    """Return a change that multiplies the times of some cells by a factor."""
    is_meant = pl.col("cell").str.contains(cell) & (pl.col("metric") == "time")
    return is_meant, pl.col("value") * factor


GET, PUT = (
    "interface=mpi2_pairwise,flavor=create,operation=get",
    "interface=mpi2_pairwise,flavor=create,operation=put",
)
KBYTES, MBYTE = ",size_bytes=10000,", ",size_bytes=1000000,"


@pytest.mark.parametrize(
    ("kernel", "words", "factor", "cell"),
    [
        ("right_shift", "at least 9.7 times", 2, "interface=mpi2,.*=8,"),
        ("naive_broadcast", "at least 6.3 times", 2, "interface=mpi2,.*=8,"),
        ("distant_messages", "about four times", 2.2, f"interface=mpi2,.*{KBYTES}"),
        ("tree_broadcast", "quite close to SHMEM", 0.2, f"{GET},size_bytes=8,"),
        ("tree_broadcast", "at least ten times", 2, f"{GET},size_bytes=8,"),
        ("tree_broadcast", "about 13 times", 10.7, f"{PUT}{KBYTES}"),
        ("tree_broadcast", "about 30 times", 11, f"{PUT}{KBYTES}"),
        ("tree_broadcast", "1.5 times as slow as the put", 2 / 3, f"{PUT}{MBYTE}"),
        ("tree_broadcast", "twice as slow as the get", 0.5, f"{GET}{MBYTE}"),
        ("tree_broadcast", "about 1.4 times as long as its get", 1.4, f"{PUT}{MBYTE}"),
        ("tree_broadcast", "about 1.5 times as long as its put", 1.5, f"{GET}{MBYTE}"),
        ("tree_broadcast", "about three times as long as SHMEM", 3, f"{GET}{MBYTE}"),
        ("tree_broadcast", "version of MPI-2 takes about 1.5 times as long as SHMEM", 1.5,
         f"{PUT}{MBYTE}"),
    ],
)  # fmt: skip
def test_a_changed_time_turns_the_answer(as_it_is, tmp_path, kernel, words, factor, cell):
    assert word(as_it_is(kernel), words) == DOES_NOT_HOLD
    assert word(answers(tmp_path / "changed", kernel, times(factor, cell)), words) == HOLDS


def test_two_ranks_say_nothing_of_the_rank_that_all_begin_with(as_it_is, tmp_path):
    claim = "Where all ranks begin with the same one"
    assert word(as_it_is("all_to_all"), claim) == NOT_MEASURED
    three = answers(tmp_path, "all_to_all", times(3, "order=unrotated"), ranks=(3,), cores=4)
    assert word(three, claim) == HOLDS


@pytest.mark.parametrize(("size", "bytes_"), [("8 bytes", 8), ("10 Kbytes", 10000)])
def test_what_grows_more_with_the_ranks_scales_worse(as_it_is, tmp_path, size, bytes_):
    (is_put, value) = times(3, f"{PUT},size_bytes={bytes_},")
    change = (is_put & pl.col("test").str.contains("ranks=4"), value)
    kernel, claim = "tree_broadcast", f"scales better than its put version ({size})"
    assert word(as_it_is(kernel), claim) == NOT_MEASURED
    more = {"ranks": (2, 4), "cores": 8}
    puts = answers(tmp_path / "puts", kernel, change, **more)
    assert word(puts, claim) == HOLDS
    (is_get, value) = times(3, f"{GET},size_bytes={bytes_},")
    change = (is_get & pl.col("test").str.contains("ranks=4"), value)
    assert word(answers(tmp_path / "gets", kernel, change, **more), claim) == DOES_NOT_HOLD


def test_mpi2_of_the_tree_is_what_only_a_parent_and_its_child_call(tmp_path):
    claim = "quite close to SHMEM"
    fences = times(0.2, "interface=mpi2,flavor=create,operation=get,size_bytes=8,")
    assert word(answers(tmp_path, "tree_broadcast", fences), claim) == DOES_NOT_HOLD


def spread(factor, interface):
    """Return a change: times of 8 bytes vary more, around the same middle."""
    middle = made.SHMEM_S * made.TIMES[interface] + 8 / made.BYTES_PER_S
    is_meant = pl.col("cell").str.contains(f"interface={interface},.*=8,") & (
        pl.col("metric") == "time"
    )
    return is_meant, middle + (pl.col("value") - middle) * factor


@pytest.mark.parametrize(
    ("kernel", "words"), [("distant_messages", "vary less"), ("naive_broadcast", "more stable")]
)
def test_what_varies_more_is_less_stable(tmp_path, kernel, words):
    assert word(answers(tmp_path / "mpi", kernel, spread(5, "mpi2")), words) == HOLDS
    assert word(answers(tmp_path / "shmem", kernel, spread(5, "shmem")), words) == DOES_NOT_HOLD


def test_the_first_trial_and_the_removed_trials_are_asked_for(as_it_is, tmp_path):
    found = as_it_is("all_to_all")
    assert word(found, "The first trial takes longer") == HOLDS
    assert word(found, "The filter removes") == DOES_NOT_HOLD  # one of 50
    is_late = pl.col("index").is_in([10, 20, 30]) & (pl.col("metric") == "time")
    found = answers(tmp_path / "late", "all_to_all", (is_late, pl.col("value") * 3))
    assert word(found, "The filter removes") == HOLDS
    is_first = (pl.col("index") == 0) & (pl.col("metric") == "time")
    found = answers(tmp_path / "first", "all_to_all", (is_first, pl.col("value") / 100))
    assert word(found, "The first trial takes longer") == DOES_NOT_HOLD
