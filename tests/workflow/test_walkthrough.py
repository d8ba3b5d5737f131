"""docs/add-an-experiment.md is true: its files are an experiment, from the kernel to the report."""

import csv
import os
import shutil
import subprocess
import sys

import polars as pl
import pytest
import yaml

from onesided.cells.verdicts import REFERENCE
from onesided.cli import new_experiment
from onesided.measure.cell_verdicts import read_verdicts
from onesided.system import paths

pytestmark = pytest.mark.slow

MOST_LINES = 500
SIZES = ("8", "10240", "1048576")
HERE = "new_experiment.py"
"""The module with the names under which the page's files are written again."""
written = new_experiment.example


@pytest.fixture(scope="module")
def checkout(ready_environment, tmp_path_factory):
    """A copy of the checkout with its own MPI, and a function that calls the copy's command.

    The function calls a subcommand, or lines of Python that know the copy's package. Each of two
    checkouts installs the same MPI again, because the paths are part of it.
    """
    ready_environment("mpich-5.0.2")
    root = tmp_path_factory.mktemp("walkthrough")
    here = paths.project_root()
    for name in (
        "src", "reframe_checks", "config", "containers", "docs", "workflow", "profiles",
        "Snakefile",
    ):  # fmt: skip
        source, ignored = here / name, shutil.ignore_patterns("__pycache__", "*.egg-info")
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=ignored)
        else:
            shutil.copy(source, root / name)
    shutil.copytree(here / "results" / "published", root / "results" / "published")
    variables = {name: os.environ[name] for name in os.environ if not name.startswith("ONESIDED")}
    if "ONESIDED_LOCK" in os.environ:
        variables["ONESIDED_LOCK"] = os.environ["ONESIDED_LOCK"]

    def call(*arguments):
        program = ["-c"] if " " in arguments[0] else ["-m", "onesided.cli"]
        answer = subprocess.run(
            [sys.executable, *program, *arguments],
            cwd=root,
            env=variables | {"PYTHONPATH": str(root / "src")},
            capture_output=True,
            text=True,
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    return root, call


def page_of(root):
    """Return the page of the experiment's study."""
    return (root / "results" / "both" / "report" / "tutorial.html").read_text("utf-8")


def rows_of(root, table):
    """Return the rows of a table's CSV, beside the report."""
    path = root / "results" / "both" / "report" / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def add(root):
    """Write the page's files if they do not exist."""
    for name, text in written().items():
        path = root / name
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def select(root, expression):
    """Change the checks that the page's campaign selects."""
    path = root / "config" / "campaigns" / "both.yaml"
    document = yaml.safe_load(written()["config/campaigns/tutorial.yaml"])
    path.write_text(yaml.safe_dump(document | {"select": {"expression": expression}}), "utf-8")


@pytest.fixture(scope="module")
def ran(checkout):
    """Run a campaign of another kernel, add the experiment, and run both."""
    root, call = checkout
    select(root, "kernel == 'baseline'")
    call("run", "both")
    call("run", "both")  # fills a hole that a busy machine left
    add(root)
    lines = {path: path.stat().st_mtime_ns for path in (root / "results").rglob("lines.jsonl")}
    untouched = call("run", "both", "--explain")
    select(root, "kernel in ('baseline', 'get_latency')")
    explained = call("run", "both", "--explain")
    call("run", "both")
    return root, call, lines, untouched, explained


def test_an_experiment_is_short_and_changes_no_file():
    files = written()
    assert len(files) == 8
    assert sum(len(text.splitlines()) for text in files.values()) < MOST_LINES
    assert not [name for name in files if (paths.project_root() / name).exists()]


def test_the_results_of_other_kernels_stay(ran):
    _, _, lines, untouched, explained = ran
    assert "there is nothing to run" in untouched, untouched
    assert explained.count("tests 1 never run") == 2, explained  # one for each round
    assert lines
    assert {path: path.stat().st_mtime_ns for path in lines} == lines


def test_its_cells_verdicts_and_table_are_in_the_report(ran):
    root, *_ = ran
    results = root / "results" / "both"
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["kernel"]) == {"baseline", "get_latency"}
    assert set(cells["status"]) == {"ok"}
    verdicts = read_verdicts(results / "verdicts.json")
    assert {cell["verdict"] for cell in verdicts} == {REFERENCE}
    assert 'href="tutorial.html"' in (results / "report" / "index.html").read_text("utf-8")
    assert "Get latency" in page_of(root)
    rows = rows_of(root, "get_latency")
    assert [(row["flavor"], row["size_bytes"]) for row in rows] == [
        (flavor, size) for flavor in ("create", "allocate") for size in SIZES
    ]
    assert all(0 < float(row["mpich-5.0.2_s"]) < 1 for row in rows)


def test_what_was_published_is_beside_it_in_a_table_and_in_a_figure(ran):
    root, *_ = ran
    text = page_of(root)
    published = rows_of(root, "get_latency_table1_published")
    assert [row["origin_ms"] for row in published] == ["0.816", "1.24", "8.18"]
    assert all(digits in text for row in published for digits in (row["origin_ms"], row["t3e_ms"]))
    assert "Luecke, Spanoyannis, Kraeva" in text
    measured, drawn = (rows_of(root, f"get_latency_sizes_{of}") for of in ("measured", "published"))
    assert {(row["series"], row["size_bytes"]) for row in measured} == {
        (flavor, size) for flavor in ("create", "allocate") for size in ("8", "10240", "1048576")
    }
    assert [float(row["shown_s"]) for row in drawn[:3]] == [816e-6, 1.24e-3, 8.18e-3]
    for name in ("measured", "published"):
        assert text.count(f'<figure id="get_latency_sizes_{name}">') == 1


def test_the_claim_is_said_to_hold_or_not(ran):
    root, *_ = ran
    (row,) = rows_of(root, "get_latency_claims")
    assert row["mpich-5.0.2"] in ("holds", "does not hold", "open")
    assert float(row["value_mpich-5.0.2"]) > 0


def test_it_is_in_the_images_and_in_what_spack_installs_without_being_named(ran):
    root, call, *_ = ran
    images = "onesided.environments.images"
    definition = call(f"from {images} import MPI, definition_text as d; print(d(MPI))")
    assert "%apprun get_latency" in definition
    assert list((root / "build" / "kernels").glob("mpich-5.0.2/*/bin/get_latency"))
    named = [
        path
        for folder in ("spack", "containers", "src", "reframe_checks", "tools")
        for path in (paths.project_root() / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".def", ".sh", ".txt") and path.name != HERE
        if "get_latency" in path.read_text("utf-8")
    ]
    assert named == []


def test_the_command_new_writes_another_that_runs_at_once(ran):
    root, call, *_ = ran
    said = call("new", "second_one", "--study", "own").splitlines()
    assert said[0] == "src/kernels/own/second_one.c"
    call("run", "second_one")
    cells = pl.read_parquet(root / "results" / "second_one" / "cells.parquet")
    assert (set(cells["kernel"]), set(cells["status"])) == ({"second_one"}, {"ok"})
    text = (root / "results" / "second_one" / "report" / "own.html").read_text("utf-8")
    assert "Second one" in text
    assert "latency" not in text


def test_it_is_compared_without_being_named_anywhere(ran):
    root, call, *_ = ran
    shutil.copytree(root / "results" / "both", root / "results" / "again")
    said = call("compare", str(root / "results" / "both"), str(root / "results" / "again"))
    assert "get_latency" in said or "get latency" in said
