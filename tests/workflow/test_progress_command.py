"""Claims about `onesided progress`: a table in seconds, with no ReFrame."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kernels.launching import Environment, with_fault

from onesided import cli
from onesided.campaign import records
from onesided.cli import progress
from onesided.environments import kernels
from onesided.system import wire

MPI = "mpich-5.0.2"
COMMAND = [str(Path(sys.executable).with_name("onesided")), "progress"]
# The name of a process at the beginning of a library's line, and the number of repeated lines.
WHO = re.compile(r"^(\[[^]]*\d[^]]*\]\s*)+")
TIMES = re.compile(r" \(\d+ times\)$")
ROW = re.compile(
    r"^(\w+) +(\w+) +(\w+) +(\w+) +\d+ +.* "
    r"(independent|waits|delayed|partial|undecided)(?:, tail [\d ]+ times)?$"
)
OPERATIONS = ("put ", "get ", "accumulate ", "fetch_and_op ")
VARIABLE = "OMPI_MCA_osc_base_verbose"


@pytest.fixture
def printed(capfd):
    """Return a function that calls the command and returns its exit status and lines."""

    def call(*options):
        capfd.readouterr()
        status = cli.main(["progress", *options])
        return status, capfd.readouterr().out.splitlines()

    return call


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--environment", "nompi-1"], "nompi-1"),
        (["--environment", MPI, "--setting", "fastest"], "'fastest'"),
    ],
)
def test_an_unknown_name_is_one_line_with_what_there_is(options, said, capsys):
    assert cli.main(["progress", *options]) == 2
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1


def test_each_named_mpi_gets_a_table_of_operations_and_words(printed, ready_environment):
    ready_environment(MPI)
    status, lines = printed("--environment", MPI)
    assert status == 0
    rows = [found.groups() for line in lines if (found := ROW.match(line))]
    operations = {operation for operation, *_ in rows}
    assert {"put", "get", "accumulate", "fetch_and_op"} <= operations
    assert {flavor for _, flavor, *_ in rows} >= {"create", "allocate"}
    assert any(MPI in line for line in lines)


def test_what_a_library_says_of_every_window_stands_once_below_the_table(ready_environment):
    ready_environment("openmpi-5.0.11")
    answer = subprocess.run(
        [
            *COMMAND, "--environment", "openmpi-5.0.11", "--keep-environment",
            "--", "--flavor", "allocate,create", "--operation", "put",
        ],
        env={**os.environ, VARIABLE: "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )  # fmt: skip
    kept, *lines = answer.stdout.splitlines()
    assert kept == f"variables of the shell: kept {VARIABLE}, as was asked"
    table = [number for number, line in enumerate(lines) if ROW.match(line)]
    said = [number for number, line in enumerate(lines) if "mca: base: components" in line]
    assert len(table) > 1 and said
    assert min(said) > max(table)
    below = [WHO.sub("", line) for line in lines[max(table) + 1 :]]
    assert len(below) == len({TIMES.sub("", line) for line in below})
    assert any(line.endswith(" times)") for line in lines)


def test_lines_that_differ_by_the_process_that_says_them_are_one_and_no_others(capsys):
    progress._print_once(
        [
            "[vm:11] query failed ", "[vm:12] query failed ", "[vm:11] query failed ", "",
            "[1.5] [vm:11:0] slow", "[vm:11] rank 1 of 2", "[vm:12] rank 0 of 2", "[info] a", "a",
        ]
    )  # fmt: skip
    assert capsys.readouterr().err.splitlines() == [
        "[vm:11] query failed (3 times)",
        "[1.5] [vm:11:0] slow",
        "[vm:11] rank 1 of 2",
        "[vm:12] rank 0 of 2",
        "[info] a",
        "a",
    ]


@pytest.mark.measures
@pytest.mark.skipif(bool(wire.missing()), reason=str(wire.missing()))
def test_on_hosts_of_this_machine_what_completes_on_a_node_waits(printed, ready_environment):
    ready_environment(MPI)
    cells = "operation=put;flavor=allocate;synchronisation=lock_all_flush;target_state=computes"
    options = ("--environment", MPI, "--", "--cells", cells)
    words = {}
    for setting in ("default", "hosts"):
        status, lines = printed("--setting", setting, *options)
        assert status == 0
        (words[setting],) = (row[5] for line in lines if (row := ROW.match(line)))
    assert words == {"default": "independent", "hosts": "waits"}


def test_what_follows_two_dashes_goes_to_the_kernel(printed, ready_environment):
    ready_environment(MPI)
    status, lines = printed(
        *("--environment", MPI, "--", "--operation", "rget", "--flavor", "shared"),
        *("--synchronisation", "lock_all_flush", "--target_state", "computes"),
    )
    assert status == 0
    rows = [found.groups() for line in lines if (found := ROW.match(line))]
    assert [row[:3] for row in rows] == [("rget", "shared", "lock_all_flush")]


def test_a_setting_that_no_named_mpi_has_is_bad_input_and_says_why(capsys):
    options = ["--environment", "openmpi-5.0.11", "--setting", "async_thread"]
    assert cli.main(["progress", *options]) == 2
    message = capsys.readouterr().err
    assert "no general progress thread" in message and message.count("\n") == 1


def test_a_setting_that_one_of_the_mpis_does_not_have_says_why_and_the_status_tells(
    ready_environment, capfd
):
    for name in (MPI, "openmpi-5.0.11"):
        ready_environment(name)
    asked = ["--environment", MPI, "--environment", "openmpi-5.0.11", "--setting", "ucx"]
    assert cli.main(["progress", *asked, "--", "--operation", "put"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert any(ROW.match(line) for line in lines)
    assert any("the setting osc_ucx" in line for line in lines)


def test_an_option_that_the_kernel_does_not_take_is_bad_input_and_nothing_is_launched(
    ready_environment, monkeypatch, capsys
):
    ready_environment(MPI)
    monkeypatch.setattr(kernels, "launch", lambda *_, **__: pytest.fail("launched"))
    assert cli.main(["progress", "--environment", MPI, "--", "--samples", "none"]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert line == "onesided: progress: --samples: found none; expected an integer from 1 to 250"


def test_a_launch_that_fails_is_told_with_its_status(printed, ready_environment, monkeypatch):
    fault = with_fault(Environment(ready_environment(MPI)), "crash MPI_Win_free 1 1")
    for name, value in fault.items():
        monkeypatch.setenv(name, value)
    status, lines = printed("--environment", MPI, "--keep-environment")
    assert status == 1
    assert "the launcher exited" in lines[-1]
    rows = [line for line in lines if line.startswith(OPERATIONS)]
    assert len(rows) == 16
    assert "  crash: rank 1 in window, MPI_Win_free: signal " in rows[0]
    assert all("before this cell" in row for row in rows[1:])


def test_a_cell_that_hangs_has_a_row_that_says_where(printed, ready_environment, monkeypatch):
    fault = with_fault(Environment(ready_environment(MPI)), "hang MPI_Win_flush 1 1")
    for name, value in fault.items():
        monkeypatch.setenv(name, value)
    # long enough that the cell ends in time on a busy machine
    options = ("--operation", "put", "--flavor", "create", "--cell-timeout-s", "6")
    status, lines = printed("--environment", MPI, "--keep-environment", "--", *options)
    assert status == 1
    first, second = (line for line in lines if line.startswith(OPERATIONS))
    assert ROW.match(first) and "  hang: rank 1 in " in second


def test_a_launch_that_takes_too_long_is_ended_and_its_cells_say_so(
    ready_environment, monkeypatch, capfd
):
    ready_environment(MPI)
    monkeypatch.setattr(progress, "LAUNCH_TIMEOUT_S", 3)
    options = ("--operation", "put", "--flavor", "create", "--lengths-ms", "10000")
    assert cli.main(["progress", "--environment", MPI, "--", *options]) == 1
    *lines, last = capfd.readouterr().out.splitlines()
    assert last == "timed out after 3 s"
    first, second = (line for line in lines if line.startswith(OPERATIONS))
    assert "  timed out: the launch was ended in this cell by its time-out" in first
    assert "  not run: the launcher was ended after 3 s, before this cell" in second


def test_the_table_is_for_a_person(printed, ready_environment):
    ready_environment(MPI)
    status, lines = printed(
        *("--environment", MPI, "--", "--operation", "put,rput", "--flavor", "allocate"),
        *("--synchronisation", "lock_all_flush,fence", "--target_state", "idle,computes"),
    )
    assert status == 1 and lines[-1] == "the launcher exited 4"  # a cell is unsupported
    # on a busy machine a latency may have a tail
    lines = [line.partition(", tail ")[0] for line in lines]
    rows = [line.split() for line in lines if line.startswith(("put ", "rput "))]
    assert [row[:4] for row in rows] == [
        [operation, "allocate", synchronisation, target]
        for operation in ("put", "rput")
        for synchronisation in ("lock_all_flush", "fence")
        for target in ("idle", "computes")
    ]
    assert [row[-1] for row in rows[:4:2]] == ["reference"] * 2
    assert rows[1][-1] in ("independent", "waits", "delayed", "partial", "undecided")
    assert rows[3][-1] == "synchronising"
    assert "unsupported: request-based operations" in " ".join(rows[6])
    assert max(len(line) for line in lines if line.startswith("put ")) <= 130
    assert "synchronising: the closing fence waits for the target by its nature" in lines
    assert any("one launch, no verdict" in line for line in lines)
    assert any(re.search("2 ranks, .* thread level single$", line) for line in lines)


def test_with_an_output_of_the_user_there_are_lines_and_no_table(
    printed, ready_environment, tmp_path
):
    ready_environment(MPI)
    path = tmp_path / "lines.jsonl"
    options = ("--operation", "put", "--output", str(path))
    status, lines = printed("--environment", MPI, "--", *options)
    assert status == 0
    assert not any(line.startswith(OPERATIONS) for line in lines)
    assert len(records.read_launch(path, tmp_path / "none").results) == 4
