"""Files of a launch as tests want them, and what a launch's cells become."""

import json

import pytest
from synthetic_lines import CELLS, header, result, started

from onesided.campaign import outcomes, records
from onesided.campaign.outcomes import Expectation

EXPECTED = Expectation(
    ranks=2,
    library_version_pattern=r"MPICH Version:\s+5\.0\.2",
    source_state="abc",
    placement="unbound",
    mpi="mpich-5.0.2 (MPICH Version: 5.0.2)",
    prefix="/opt/mpich",
)


def ended(
    launch=1, exit_status=0, timed_out=False, finished=True, given_up=False, cells_begun=None
):
    return [
        {"type": "launch_started", "launch": launch, "begin_s": 1.0, "marker": "m"},
        {
            "type": "launch_ended", "launch": launch, "begin_s": 1.0, "end_s": 6.0,
            "exit_status": exit_status, "timed_out": timed_out, "finished": finished,
            "given_up": given_up, "cells_begun": cells_begun,
        },
    ]  # fmt: skip


@pytest.fixture
def launch(tmp_path):
    def read(lines, attempts, cut=""):
        text = "".join(json.dumps(line) + "\n" for line in lines) + cut
        (tmp_path / "lines.jsonl").write_text(text)
        record = "".join(json.dumps(line) + "\n" for line in attempts)
        (tmp_path / "launches.jsonl").write_text(record)
        return records.read_launch(tmp_path / "lines.jsonl", tmp_path / "launches.jsonl")

    return read


WHOLE = [header(), *(line for cell in CELLS for line in (started(cell), result(cell)))]
FINISHED = {"type": "finished"}


def statuses(launch, expected=EXPECTED):
    return [outcome.status for outcome in outcomes.of_cells(launch, CELLS, expected).values()]


def hang(rank, phase, call, collectives, cell="c=1"):
    return {"type": "hang", "cell": cell, "rank": rank, "phase": phase, "call": call,
            "in_collective": call == "MPI_Allreduce", "collectives": collectives}  # fmt: skip


def side_files(folder, kind):
    """Return a function that appends lines of ranks to their files beside the output."""

    def write(*lines):
        for line in lines:
            with (folder / f"lines.jsonl.{kind}-{line['rank']}").open("a") as stream:
                stream.write(json.dumps(line) + "\n")

    return write


@pytest.fixture
def hang_files(tmp_path):
    return side_files(tmp_path, "hang")


def crash(cell, rank=1, signal=11, phase="access", call="MPI_Win_lock"):
    return {"type": "crash", "cell": cell, "rank": rank, "phase": phase, "call": call,
            "signal": signal}  # fmt: skip


@pytest.fixture
def crash_files(tmp_path):
    return side_files(tmp_path, "crash")
