"""The contract of every kernel: help, cells, lines, ranks, sanitizers.

The contract with a faulty library is in test_contract_faults.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onesided.campaign import grid, outcomes
from onesided.environments import fingerprint, libraries
from onesided.system.documents import check

from .asserting import assert_a_hang_is_booked, blocks, cells_for_three_ranks


def test_help_names_every_option_with_its_default(kernel, whole, without_mpi):
    answer = without_mpi("--help")
    assert (answer.returncode, answer.stderr) == (0, "")
    paragraphs = {
        text.split()[0].removeprefix("--"): text
        for text in re.findall(r"^  (--.*\n      .*)$", answer.stdout, re.MULTILINE)
    }
    options = whole.lines[0]["parameters"]["resolved"]
    given = {"output"}  # by this launch
    assert paragraphs.keys() == options.keys()
    for name, value in options.items():
        if name not in given and value not in (None, False, []):
            value = grid.canonical(value)
            assert paragraphs[name].endswith(f"(default: {value})")


@pytest.mark.one_kernel
def test_a_file_that_cannot_be_written_is_a_usage_fault(kernel, tmp_path):
    run = kernel.launch(output=tmp_path / "no folder" / "lines.jsonl")
    # without a file, nothing says that OpenSHMEM crashed at its end
    assert run.code == 2 or (run.code and kernel.environment.library == libraries.OPENSHMEM)
    assert run.stderr.count(f"{kernel.executable.name}: --output: found") == 1


@pytest.mark.one_kernel
def test_a_full_disk_is_said(kernel):
    run = kernel.launch(output=Path("/dev/full"))
    assert run.code != 0
    assert run.stderr.count("--output: ") == run.stderr.count("No space left on device") == 1


def assert_right(run, tried=()):
    """Check that each cell not in `tried` has one result, verified or with a reason."""
    statuses = set(run.statuses.values())
    assert run.ended_with(4 if "unsupported" in statuses else 0), run.stderr
    assert "ok" in statuses
    results = run.of_type("result")
    *_, header = run.of_type("header")
    assert [*tried, *(result["cell"] for result in results)] == header["cells"]
    for result in [*results, *run.of_type("further")]:
        series, verification = result["series"], result["verification"]
        if result["status"] == "unsupported":
            assert (bool(result["detail"]), series, verification) == (True, [], [])
            continue
        assert (result["status"], result["detail"]) == ("ok", None)
        assert any(item["samples"] for item in series)
        assert verification, result["cell"]
        assert all(item["checked"] > 0 == item["errors"] for item in verification), result["cell"]


def test_every_line_fits_the_schema_from_the_header_to_the_end(whole):
    for line in whole.lines:
        check(line, "line", whole.output)
    kinds = [line["type"] for line in whole.lines]
    assert kinds[0] == "header"
    assert kinds.count("header") == 1
    last = ["result"] if whole.died_in_finalize else ["finished"]
    assert kinds[-1:] == last
    assert kinds.count("finished") == last.count("finished")
    assert whole.side_lines("crash") == whole.side_lines("hang") == {}


def test_every_cell_listed_is_verified_or_says_why_not(whole, default_cells):
    assert_right(whole)
    assert whole.lines[0]["cells"] == default_cells


def test_each_result_follows_its_own_start(whole):
    body = [line for line in whole.lines if line["type"] in ("started", "result")]
    for started, result in zip(body[::2], body[1::2], strict=True):
        assert (started["type"], result["type"]) == ("started", "result")
        assert (started["cell"], started["index"]) == (result["cell"], result["index"])
        labels = {axis: grid.canonical(value) for axis, value in result["labels"].items()}
        assert grid.cell_id(labels) == result["cell"]


def test_the_header_names_what_ran(whole, kernel):
    header, document = whole.lines[0], kernel.environment.document
    assert header["kernel"] == kernel.executable.name
    assert header["ranks"] == len(header["processes"]) == 2
    library = kernel.environment.library
    assert header["source_state"] == fingerprint.kernel_source_state(header["kernel"], library)
    assert header["mpi"]["standard"] == library
    assert header["mpi"]["standard_version"] == document["standard_version"]
    assert re.search(document["library_version_pattern"], header["mpi"]["library_version"])
    assert header["mpi"]["library_path"].startswith(document["prefix"])


def test_the_project_books_to_each_cell_what_its_result_says(whole, kernel):
    library = kernel.environment.library
    state = fingerprint.kernel_source_state(kernel.executable.name, library)
    expected = outcomes.Expectation.of(kernel.environment.document, 2, "unbound", state)
    assert whole.booked(whole.lines[0]["cells"], expected) == whole.statuses


def test_with_an_output_nothing_is_printed(whole):
    assert whole.stdout == ""


@pytest.mark.one_kernel
def test_one_rank_is_unsupported_and_the_header_proves_that_it_was_alone(kernel):
    run = kernel.launch(ranks=1)
    assert run.ended_with(4)
    assert run.stderr.count("ranks: found 1 in the world; expected 2 or more") == 1
    (header,) = run.lines
    assert (header["type"], header["ranks"]) == ("header", 1)
    assert run.side_lines("crash") == {}


# below, every kernel runs on three ranks with sanitizers
@pytest.mark.slow
@pytest.mark.one_kernel
def test_three_ranks_work(kernel, whole):
    run = kernel.launch(*blocks(cells_for_three_ranks(whole.statuses)), ranks=3)
    assert_right(run)
    assert run.lines[0]["ranks"] == 3


def assert_clean(run, tried=()):
    assert_right(run, tried)
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr


@pytest.mark.first_mpi
def test_sanitizers_find_nothing(sanitized_whole):
    assert_clean(sanitized_whole)


@pytest.mark.slow
@pytest.mark.first_mpi
def test_a_hang_is_booked_and_sanitizers_find_nothing_with_three_ranks_in_a_relaunch(
    sanitized, sanitized_statuses
):
    cells = cells_for_three_ranks(sanitized_statuses)
    hang = assert_a_hang_is_booked(sanitized, cells)
    rest = sanitized.launch(*blocks(cells), "--missing", output=hang.output, ranks=3)
    assert_clean(rest, tried=cells[:1])
