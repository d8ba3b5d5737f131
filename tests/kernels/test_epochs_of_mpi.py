"""What MPIs do with calls in a wrong epoch, and accesses that Dinan et al.'s Figure 1 permits."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from onesided.report.published import PublishedTable

from .conftest import HERE
from .launching import LAUNCH_TIMEOUT_S

DOCUMENT = HERE.parents[1] / "docs" / "dinan.md"
#: The columns of the table in docs/dinan.md.
DOCUMENTED = ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1")
ROW = re.compile(r"^\| `(\w+)` \|" + r" ([\w ]+) \|" * len(DOCUMENTED) + "$", re.MULTILINE)
STRICT = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror")


@pytest.fixture
def run_program(environment, tmp_path):
    """Return a function that builds a program of this folder and returns its output file."""

    def run(source: str, *arguments: str) -> dict[str, str]:
        program, left = tmp_path / Path(source).stem, tmp_path / "lines"
        compiler = environment.document["compilers"]["c"]
        variables = environment.variables()
        built = [compiler, *STRICT, HERE / source, "-o", program]
        subprocess.run(built, env=variables, check=True)
        ended = subprocess.run(
            [*environment.launch_line(2), program, left, *arguments],
            env=variables,
            capture_output=True,
            text=True,
            timeout=LAUNCH_TIMEOUT_S,
        )
        assert left.exists(), ended.stderr
        return dict(line.rsplit(": ", 1) for line in left.read_text("utf-8").splitlines())

    return run


@pytest.mark.every_mpi
def test_what_an_mpi_says_to_a_call_in_a_wrong_epoch_is_documented(environment, run_program):
    if environment.name not in DOCUMENTED:
        pytest.skip(f"docs/dinan.md has no column of {environment.name}")
    rows = {row[0]: row[1:] for row in ROW.findall(DOCUMENT.read_text("utf-8"))}
    place = DOCUMENTED.index(environment.name)
    said = run_program("wrong_epochs.c")
    assert said == {case: words[place] for case, words in rows.items()}
    assert len(said) == 16


ACTIONS = ("load", "store", "get", "put", "acc")
#: The distance in bytes of two accesses, for each word of an entry of Figure 1.
DISTANCES = {"OV": 0, "BOV": 0, "NOV": 1}


def permitted(model):
    """Return the words of each entry of Figure 1, by the entry's two accesses."""
    rows = [row for row in PublishedTable("dinan_figure1").rows if row["model"] == model]
    assert [row["operation"].lower() for row in rows] == list(ACTIONS)
    return {
        (one, row["operation"].lower()): {*row[one].split("+")} - {"X"}
        for row in rows
        for one in ACTIONS
    }


def test_what_the_separate_model_permits_the_unified_model_permits_in_either_order():
    separate, unified = permitted("separate"), permitted("unified")
    assert len(separate) + len(unified) == 50
    for table in (separate, unified):
        assert all(table[one, other] == table[other, one] for one, other in table)
    assert all(words <= unified[pair] for pair, words in separate.items())
    # a store beside a put or an accumulate; a load of a byte that one of these writes
    assert {pair for pair, words in separate.items() if words < unified[pair]} == {
        pair
        for one, other in (
            *(("store", by) for by in ("put", "acc")),
            ("load", "put"),
            ("load", "acc"),
        )
        for pair in ((one, other), (other, one))
    }


@pytest.mark.every_mpi
def test_all_that_figure_1_permits_in_the_unified_model_is_right(run_program):
    entries = [
        f"{one}:{other}:{DISTANCES[word]}"
        for (one, other), words in permitted("unified").items()
        for word in sorted(words)
    ]
    found = run_program("concurrent_accesses.c", *entries)
    assert found == {**dict.fromkeys(entries, "0"), "model": "unified"}
    assert len(entries) == 25 + 8 + 4  # apart; at one place; one byte apart
