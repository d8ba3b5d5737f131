"""The answer of the progress page: one sentence, and one word for each MPI and way."""

from __future__ import annotations

import re

import pytest
from progress_page import rows_of

from onesided.report import answers
from onesided.report.material import Cell
from onesided.studies.stfc.progress.answer import title
from onesided.studies.stfc.ways import STRONG, WEAK, reading


def test_the_answer_says_what_to_use_and_what_it_was_tested_with(text):
    ledes = [re.sub("<[^>]+>", "", one) for one in re.findall(r'<p class="lede">(.*?)</p>', text)]
    assert ledes[:3] == [
        "Use MPI_Win_allocate with lock_all and flush: an access completes while the target "
        "computes in all 3 MPIs.",
        "MPI_Win_allocate with an exclusive lock or lock_all and flush_local: completes in "
        "openmpi-5.0.11 only.",
        "MPI_Win_create with each of the 3 synchronisations tested: completes in none.",
    ]
    assert ledes.pop(3) == (
        "This is so within a node, where a window can be in shared memory. Between nodes it may be "
        "otherwise: onesided run wire_quick or onesided run settings."
    )
    assert ledes[3] == (
        "If the target calls MPI_Iprobe every 100\u202fµs (tested: MPI_Win_create and "
        "MPI_Win_allocate with an exclusive lock or lock_all and flush), an access completes while "
        "the target computes after a delay in mpich-5.0.2 and impi-2021.18.1; only in some cells "
        "in openmpi-5.0.11."
    )
    assert ledes[4].startswith(
        "Code that stays as it is: MPIR_CVAR_ASYNC_PROGRESS=1 helps mpich-5.0.2"
    )
    assert ledes[5] == "Nothing was measured with &lt;b&gt;none&lt;/b&gt;."
    assert ledes[6] == (
        "Tested with 2 of 4 window flavors, 3 of 8 synchronisations, 4 operations (put, get, "
        "accumulate and fetch_and_op) of 8\u202fbytes and 64\u202fKiB, thread levels single and "
        "multiple."
    )


def test_the_matrix_has_a_word_for_each_mpi_and_way_and_its_csv_counts_cells(page):
    row = rows_of(page, "progress_answer")[0]
    assert (row["environment"], row["judged"]) == ("mpich-5.0.2", "40")
    assert (row["independent"], row["waits"]) == ("10", "30")
    assert row["allocate_lock_all_flush"] == "independent"
    assert row["reading"] == "independent in part"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["independent"] * 3, STRONG),
        (["independent", "delayed"], STRONG),
        (["waits", "waits", "undecided", "reference"], WEAK),
        (["waits", "independent"], "independent in part"),
        (["waits", "partial"], "independent in part"),
        (["crash", "undecided"], "nothing decided"),
        (["undecided"] * 3, "nothing decided"),
        (["crash", "not run", "unavailable"], "nothing measured"),
    ],
)
def test_strong_or_weak_is_said_only_where_all_observed_cells_agree(words, said):
    assert reading(words) == said


def test_ways_are_named_in_few_words():
    every = [(f, s) for f in ("create", "allocate", "shared") for s in ("pscw", "lock_shared")]
    assert title(every[:4], every) == (
        "MPI_Win_create or MPI_Win_allocate with each of the 2 synchronisations tested"
    )
    assert title([("create", "pscw"), ("allocate", "lock_shared")], every) == (
        "MPI_Win_create with post, start, complete and wait; MPI_Win_allocate with a shared lock"
    )


def test_a_cell_that_is_undecided_is_counted_out_in_the_matrix():
    def cell(verdict):
        return Cell({"verdict": verdict, "labels": {}, "detail": None})

    assert answers.together([cell("independent")] * 2) == answers.Together("independent")
    assert answers.together([cell("independent"), cell("undecided")]) == answers.Together(
        "independent", "1 of 2 cells decided"
    )
    # a cell that cannot decide, or was not measured, is not undecided
    assert answers.together([cell("waits"), cell("local completion only")]).note is None
    assert answers.together([cell("waits"), cell("unsupported")]).note is None
    assert answers.together([cell("unsupported")]).word == "unsupported"
    assert answers.together([cell("waits"), cell("crash")]).word == "crash"
    assert answers.together([cell("with help"), cell("delayed")]).word == "delayed"
    assert answers.together([cell("waits"), cell("delayed")]).word == "mixed"
