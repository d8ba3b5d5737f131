"""Claims about `onesided reproduce`: a small program that fails without the harness."""

import os
import subprocess
from pathlib import Path

import pytest

from onesided import cli

MPI = "mpich-5.0.2"
SOURCE = Path(__file__).with_name("drops_puts.c")
CELL = (
    "call=put,operator=none,element=double,count=64,layout_origin=vector,layout_target=indexed,"
    "flavor=create,synchronisation=lock_exclusive,outstanding=256,overlap=none,target=self,"
    "memory=every,window=roomy,windows=2,datatypes=freed_early"
)
SMALLEST = (
    "call=put,operator=none,element=int8,count=1,layout_origin=plain,layout_target=plain,"
    "flavor=allocate,synchronisation=lock_all_flush,outstanding=64,overlap=none,target=self,"
    "memory=every,window=exact,windows=1,datatypes=kept"
)


@pytest.fixture
def reproduce(ready_environment, capfd):
    """Return a function that runs the command and returns its status and output."""
    document = ready_environment(MPI)

    def run(cell, *options):
        status = cli.main(["reproduce", MPI, cell, *options])
        return status, "".join(capfd.readouterr())

    run.document = document
    return run


@pytest.fixture
def lossy(reproduce, tmp_path, monkeypatch):
    """Put the faulty library before the MPI, in every launch."""
    library = tmp_path / "lossy.so"
    compiler = reproduce.document["compilers"]["c"]
    subprocess.run([compiler, "-shared", "-fPIC", SOURCE, "-o", library], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))


def assert_right(program, document):
    """Check that, without the fault, the program is right and compiles without warnings."""
    compiler = Path(document["compilers"]["c"])
    executable = program.with_suffix("")
    line = [compiler, "-Wall", "-Wextra", "-Werror", program, "-o", executable]
    subprocess.run(line, check=True)
    answer = subprocess.run(
        [compiler.with_name("mpiexec"), "-n", "2", executable],
        env=os.environ | document["variables"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (answer.returncode, answer.stdout) == (0, "every byte is right\n")


@pytest.mark.slow
@pytest.mark.measures
def test_a_fault_is_shrunk_to_its_known_minimum(reproduce, lossy, tmp_path, monkeypatch):
    program = tmp_path / "lost put.c"
    status, said = reproduce(CELL, "--output", str(program), "--seed", "1", "--keep-environment")
    assert status == 0, said
    assert SMALLEST in said.splitlines()
    assert "wrong data without the harness" in said
    text = program.read_text("utf-8")
    assert f"/* {SMALLEST}" in text and "onesided" not in text
    command = text.partition(" && ")[2].splitlines()[0]
    assert command.startswith("mpiexec -n 2")
    assert len(text.splitlines()) < 150
    monkeypatch.delenv("LD_PRELOAD")
    assert_right(program, reproduce.document)


def test_a_cell_that_is_right_says_so_and_ends_with_1(reproduce, tmp_path):
    program = tmp_path / "none.c"
    status, said = reproduce(SMALLEST, "--output", str(program))
    assert (status, program.exists()) == (1, False)
    assert f"{MPI}, setting default: right; nothing to reproduce" in said


@pytest.mark.parametrize(
    ("cell", "options", "told"),
    [
        ("put", (), "cell: found 'put'; expected axis=value,axis=value"),
        (SMALLEST, ("--setting", "fastest"), "--setting: found 'fastest'"),
        (SMALLEST, ("--setting", "osc_ucx"), "MPICH has no one-sided components"),
        (SMALLEST.replace("int8", "int7"), (), "int7"),
    ],
)
def test_bad_input_is_one_line_with_code_2(reproduce, cell, options, told):
    status, said = reproduce(cell, *options)
    assert status == 2
    (line,) = [one for one in said.splitlines() if told in one]
    assert "expected" in line
