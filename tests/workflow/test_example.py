"""Claims about the example in an advice: a C program that compiles, runs, and moves the data."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from onesided.studies.stfc.progress.advice import PARTS, program

MPI = "mpich-5.0.2"
USUAL = ("allocate", "lock_all_flush", "put")
FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
CHECK = """    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == EXPOSED) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        int wrong = FOUND != EXPECTED;
        MPI_Win_unlock(rank, win);
        if (wrong) MPI_Abort(MPI_COMM_WORLD, 7);
    }
"""
"""C code before the window's end: it checks the effect of the operation."""

CASES = sorted(
    {(flavor, *USUAL[1:]) for flavor in PARTS["flavors"]}
    | {(USUAL[0], one, USUAL[2]) for one in PARTS["synchronisations"]}
    | {(*USUAL[:2], one) for one in PARTS["operations"]}
    | {("dynamic", "pscw", "rget_accumulate")}
)


def checked(text, operation):
    """Return a program that ends with an error if the data are not there."""
    gets = operation in ("get", "rget")
    words = {"EXPOSED": "1", "FOUND": "mine", "EXPECTED": "0"} if gets else {}
    words = {"EXPOSED": "0", "FOUND": "*memory", "EXPECTED": "42"} | words
    check = re.sub("|".join(words), lambda word: words[word.group()], CHECK)
    at = re.search(r"    MPI_Win_(detach|free)", text).start()
    return text[:at] + check + text[at:]


@pytest.fixture(scope="module")
def run(ready_environment, tmp_path_factory):
    """Return a function that compiles a program without warnings and runs it on two ranks."""
    document = ready_environment(MPI)
    compiler = Path(document["compilers"]["c"])
    folder = tmp_path_factory.mktemp("example")

    def compile_and_run(text):
        (folder / "example.c").write_text(text)
        built = [compiler, *FLAGS, folder / "example.c", "-o", folder / "example"]
        answer = subprocess.run(built, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
        return subprocess.run(
            [document["launcher"]["path"], "-n", "2", folder / "example"],
            env=os.environ | document["variables"],
            capture_output=True,
            check=False,
            timeout=60,
        ).returncode

    return compile_and_run


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_the_example_of_each_part_compiles_without_a_warning_and_moves_the_data(run, case):
    text = program(*case)
    assert run(checked(text, case[2])) == 0


def test_the_check_of_the_data_can_fail(run):
    text = program(*USUAL)
    lost = re.sub(r" +MPI_Put[^;]*;\n", "", text).replace("mine = 42, ", "")
    assert lost != text
    assert run(checked(lost, "put")) != 0


def test_the_example_follows_from_what_is_recommended():
    text = program("create", "lock_shared_nocheck", "fetch_and_op")
    for call in ("MPI_Win_create(", "MPI_MODE_NOCHECK", "MPI_Fetch_and_op(", "MPI_Win_unlock("):
        assert call in text
    for other in ("MPI_Win_allocate", "lock_all", "MPI_Put"):
        assert other not in text
    assert program("create", "no_such_call", "put") is None


def test_the_usual_example_has_about_ten_statements():
    body = program(*USUAL).partition("{\n")[2]
    assert len(re.findall(r"^ +(MPI_\w+\(|if |return )", body, re.M)) <= 11
    assert max(map(len, body.splitlines())) < 90
