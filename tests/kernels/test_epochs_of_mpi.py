"""What MPIs say to calls in a wrong epoch: as docs/dinan.md has it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from .conftest import HERE
from .launching import LAUNCH_TIMEOUT_S

DOCUMENT = HERE.parents[1] / "docs" / "dinan.md"
#: The columns of the table in docs/dinan.md.
DOCUMENTED = ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1")
ROW = re.compile(r"^\| `(\w+)` \|" + r" ([\w ]+) \|" * len(DOCUMENTED) + "$", re.MULTILINE)
STRICT = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror")


@pytest.fixture
def run_program(environment, tmp_path):
    """Return a function that builds a program of this folder and gives what it leaves in a file."""

    def run(source: str) -> list[str]:
        program, left = tmp_path / Path(source).stem, tmp_path / "lines"
        compiler = environment.document["compilers"]["c"]
        variables = environment.variables()
        built = [compiler, *STRICT, HERE / source, "-o", program]
        subprocess.run(built, env=variables, check=True)
        ended = subprocess.run(
            [*environment.launch_line(2), program, left],
            env=variables,
            capture_output=True,
            text=True,
            timeout=LAUNCH_TIMEOUT_S,
        )
        assert left.exists(), ended.stderr
        return left.read_text("utf-8").splitlines()

    return run


@pytest.mark.every_mpi
def test_what_an_mpi_says_to_a_call_in_a_wrong_epoch_is_documented(environment, run_program):
    if environment.name not in DOCUMENTED:
        pytest.skip(f"docs/dinan.md has no column of {environment.name}")
    rows = {row[0]: row[1:] for row in ROW.findall(DOCUMENT.read_text("utf-8"))}
    place = DOCUMENTED.index(environment.name)
    said = dict(line.split(": ") for line in run_program("wrong_epochs.c"))
    assert said == {case: words[place] for case, words in rows.items()}
    assert len(said) == 16
