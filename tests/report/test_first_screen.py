"""The first screen says where an access completes, and with which MPI, as the verdicts say."""

from __future__ import annotations

import csv
import io
import itertools
import re

import pytest
from made_up import progress
from made_up.progress import Environment
from markupsafe import Markup, escape

from onesided import report
from onesided.campaign.grid import cell_id
from onesided.cells import verdicts
from onesided.environments import settings
from onesided.measure.analyse import analyse
from onesided.report import answers
from onesided.report.answers import terminal_summary
from onesided.studies import find

ONE, TWO, THREE = "mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"
GRID = progress.grid(("put", "get"))
TESTED = (
    "Tested with 2 of 4 window flavors, 2 of 8 synchronisations, 2 operations (put and get) of "
    "8\u202fbytes, thread level single."
)
ONLY_WITHIN = (
    "This is so within a node, where a window can be in shared memory. Between nodes it may be "
    "otherwise: onesided run wire_quick or onesided run settings."
)
ONE_SETTING = (
    f"1 of {len(settings.names())} settings was tried: default, which sets no environment "
    "variable. To try the others: onesided run full or onesided run settings."
)
NONE_AT_ONCE = "No window and synchronisation tested lets every access complete at once."
WAITS_ALWAYS = (
    "With every window and synchronisation tested an access waits until the target calls MPI, in "
)


def plain(sentences):
    """Return sentences as text, without HTML."""
    return [re.sub(r"<[^>]+>", "", escape(sentence)) for sentence in sentences]


def answer_of(folder, environments, cells=GRID, rounds=6):
    """Return the answer at the beginning of a synthetic campaign's page."""
    progress.campaign(folder, environments, cells, ["default"], ["single"], rounds)
    analyse(folder, find())
    (material,) = report.load(folder, find()).materials()
    return material.experiment.page.headline(material)


def said_of(folder, environments, *options, **more):
    """Return the sentences of this answer as text."""
    return plain(answer_of(folder, environments, *options, **more).sentences)


def rows_of(answer):
    """Return the rows of the answer's table, as in its CSV."""
    return list(csv.DictReader(io.StringIO(answer.table.csv_text())))


def mpi(name, behaviour, **more):
    return Environment(name, "mpich", lambda at, setting: behaviour(at), **more)


def everywhere(word):
    return lambda at: word


def on_allocate(at):
    return "independent" if at["flavor"] == "allocate" else "waits"


def on_allocate_with_flush(at):
    flushed = at["synchronisation"] == "lock_all_flush"
    return "independent" if at["flavor"] == "allocate" and flushed else "waits"


def crashes_on_create(cell):
    return ("crash", "rank 1: signal 11") if cell.at["flavor"] == "create" else ("ok", None)


@pytest.mark.parametrize(
    ("environments", "said"),
    [
        (
            [mpi(name, everywhere("independent")) for name in (ONE, TWO, THREE)],
            [
                "Use any window and synchronisation tested: an access completes while the target "
                "computes in all 3 MPIs."
            ],
        ),
        (
            [mpi(name, everywhere("waits")) for name in (ONE, TWO, THREE)],
            [f"{WAITS_ALWAYS}all 3 MPIs."],
        ),
        ([mpi(ONE, everywhere("waits"))], [f"{WAITS_ALWAYS}mpich-5.0.2."]),
        (
            [mpi(ONE, on_allocate_with_flush), mpi(TWO, on_allocate)],
            [
                "Use MPI_Win_allocate with lock_all and flush: an access completes while the "
                "target computes in both MPIs.",
                "MPI_Win_allocate with an exclusive lock: completes in openmpi-5.0.11 only.",
                "MPI_Win_create with each of the 2 synchronisations tested: completes in none.",
            ],
        ),
        (
            [mpi(ONE, on_allocate)],
            [
                "Use MPI_Win_allocate with each of the 2 synchronisations tested: an access "
                "completes while the target computes in mpich-5.0.2.",
                "MPI_Win_create with each of the 2 synchronisations tested: does not complete in "
                "mpich-5.0.2.",
            ],
        ),
        (
            [mpi(ONE, on_allocate), mpi(TWO, on_allocate, statuses=crashes_on_create)],
            [
                "Use MPI_Win_allocate with each of the 2 synchronisations tested: an access "
                "completes while the target computes in both MPIs.",
                "MPI_Win_create with each of the 2 synchronisations tested: does not complete in "
                "mpich-5.0.2; failed in openmpi-5.0.11.",
            ],
        ),
        (
            [mpi(ONE, everywhere("delayed")), mpi(TWO, everywhere("waits"))],
            [
                NONE_AT_ONCE,
                "MPI_Win_create or MPI_Win_allocate with each of the 2 synchronisations tested: "
                "completes after a delay in mpich-5.0.2; not in openmpi-5.0.11.",
            ],
        ),
        (
            [
                mpi(f"mpi-{at}", everywhere("independent" if at < 7 else "waits"))
                for at in range(12)
            ],
            [
                "Use MPI_Win_create or MPI_Win_allocate with each of the 2 synchronisations "
                "tested: an access completes while the target computes in 7 of 12 MPIs only."
            ],
        ),
    ],
    ids=["all", "none", "one none", "mixed", "one", "failures", "delayed", "twelve"],
)
def test_the_sentences_of_a_campaign_are_true(tmp_path, environments, said):
    *found, sizes = said_of(tmp_path, environments)
    only_within = [ONLY_WITHIN] if said[0].startswith("Use ") else []
    assert found == [*said, *only_within, TESTED, ONE_SETTING]
    assert sizes.startswith("To measure other sizes: onesided run ")


def test_an_mpi_that_was_not_there_is_named_once_and_not_counted(tmp_path):
    there = mpi(ONE, on_allocate)
    missing = mpi("none-1", on_allocate, unavailable="no wheel")
    first, *_, last, tested, _, _ = said_of(tmp_path, [there, missing])
    assert first.endswith("in mpich-5.0.2.")
    assert last == "Nothing was measured with none-1."
    assert tested == TESTED


def test_a_campaign_with_too_few_launches_says_that_nothing_is_decided(tmp_path):
    assert said_of(tmp_path, [mpi(ONE, on_allocate)], rounds=2) == [
        "No cell whose target computes is decided: 8 cells undecided (2 launches, 5 needed: 3 more "
        "rounds)."
    ]


def test_an_operation_that_waits_keeps_its_synchronisation_from_being_recommended(tmp_path):
    gets_wait = mpi(ONE, lambda at: "waits" if at["operation"] == "get" else on_allocate(at))
    assert said_of(tmp_path, [gets_wait])[:3] == [
        NONE_AT_ONCE,
        "MPI_Win_allocate with each of the 2 synchronisations tested: completes only in some "
        "cells in mpich-5.0.2.",
        "MPI_Win_create with each of the 2 synchronisations tested: does not complete in "
        "mpich-5.0.2.",
    ]


def test_of_many_ways_the_best_are_said_and_where_the_others_are(tmp_path):
    cells = progress.grid(("put",), ("create", "allocate", "shared", "dynamic"))
    number = {cell_id(at): at_place for at_place, at in enumerate(cells)}

    def by_bit(bit):
        def behaviour(at):
            return "independent" if number[cell_id(at)] >> bit & 1 else "waits"

        return behaviour

    environments = [mpi(name, by_bit(bit)) for bit, name in enumerate((ONE, TWO, THREE))]
    answer = answer_of(tmp_path, environments, cells)
    said = plain(answer.sentences)
    assert said[0].startswith("Use MPI_Win_create_dynamic with lock_all and flush: ")
    assert said[0].endswith("in all 3 MPIs.")
    assert said[6] == "The truth table has the others."
    row, *_ = rows_of(answer)
    assert sum(key.endswith(("_lock_exclusive", "_lock_all_flush")) for key in row) == 6


def test_probing_that_helps_is_said_with_what_the_target_does(tmp_path):
    def helped(at):
        return "independent" if at["target_state"] == "computes_probing" else "waits"

    cells = [*GRID, *progress.grid(("put", "get"), states=("computes_probing",))]
    answer = answer_of(tmp_path, [mpi(ONE, helped), mpi(TWO, helped)], cells)
    first, help_said, *_ = plain(answer.sentences)
    assert first == f"{WAITS_ALWAYS}both MPIs."
    assert help_said == (
        "If the target calls MPI_Iprobe every 100\u202fµs, an access completes while the target "
        "computes in both MPIs."
    )
    row, _ = rows_of(answer)
    assert row["computes_probing"] == verdicts.WITH_HELP
    assert row["independent"] == "0"


def test_the_page_begins_with_the_answer_and_its_title_says_what_it_was_measured_on(tmp_path):
    answer = answer_of(tmp_path, [mpi(ONE, on_allocate)])
    page = report.build(report.load(tmp_path, find())).read_text("utf-8")
    assert plain(map(Markup, re.findall(r'<p class="lede">(.*?)</p>', page))) == plain(
        answer.sentences
    )
    written = (tmp_path / "report/progress_answer.csv").read_text("utf-8")
    assert list(csv.DictReader(io.StringIO(written))) == rows_of(answer)
    (scope,) = re.findall(r'<p class="scope">(.*?)</p>', page)
    assert scope.startswith("Measured on one machine (")
    assert scope.endswith("2 ranks, 6 launches of each cell. This is not a network result.")
    assert terminal_summary(report.load(tmp_path, find())).startswith("Measured on one machine (")


WORDS = ("independent", "waits", "mixed", "delayed", "crash", "undecided")


BEGINS = {
    "independent": "in ",
    "mixed": "only in some cells in ",
    "delayed": "after a delay in ",
    "crash": "failed in ",
    "undecided": "not known for ",
    "waits": "not in ",
}


def test_an_mpi_is_never_in_a_clause_that_its_verdict_denies():
    for words in itertools.product(WORDS, repeat=3):
        found = dict(zip("abc", words, strict=True))
        clauses = answers.where(found, "MPIs").split("; ")
        for word, begin in BEGINS.items():
            named = {name for name, own in found.items() if own == word}
            said = [one.removeprefix(begin) for one in clauses if one.startswith(begin)]
            said = [one.removesuffix(" only") for one in said if one != "none"]
            if word == "waits" and not said:
                # with "only", nobody needs to say what waits; with "none", nothing else is said
                silent = clauses == ["in none"] or clauses[0].endswith(" only")
                assert not named or silent, (words, clauses)
                continue
            told = (
                set("abc") if said == ["all 3 MPIs"] else set(re.findall(r"\b[abc]\b", str(said)))
            )
            assert told == named, (words, clauses)


def test_names_are_counted_where_there_are_many():
    every = [f"mpi-{at}" for at in range(12)]
    assert answers.names(every, every, "MPIs") == "all 12 MPIs"
    assert answers.names(every[:3], every, "MPIs") == "mpi-0, mpi-1 and mpi-2"
    assert answers.names(every[:4], every, "MPIs") == "4 of 12 MPIs"
    assert answers.names(every[:1], every[:1], "MPIs") == "mpi-0"
