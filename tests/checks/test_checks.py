"""The checks as ReFrame sees them: all load, all describe their grid, the grid is the kernels'."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from onesided import environments, grid, paths

ROOT = Path(__file__).parents[2]
REFRAME = [
    str(Path(sys.executable).with_name("reframe")),
    f"--config-file={ROOT / 'reframe_checks/sites/laptop.py'}",
    f"--checkpath={ROOT / 'reframe_checks'}",
    "--recursive",
]


def reframe(*options, session):
    return subprocess.run(
        [*REFRAME, *options],
        cwd=ROOT,
        env={**paths_environment(), "ONESIDED_SESSION": str(session)},
        capture_output=True,
        text=True,
        check=False,
    )


def paths_environment():
    import os

    return dict(os.environ)


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    answer = reframe("--describe", session=tmp_path_factory.mktemp("describe"))
    assert "skipping test file" not in answer.stdout + answer.stderr
    start = answer.stdout.index("[\n")
    return json.JSONDecoder().raw_decode(answer.stdout, start)[0]


def test_every_campaign_tag_selects_tests(described):
    tags = {tag for test in described for tag in test["tags"]}
    assert {"smoke", "quick", "papers"} <= tags


def test_every_test_declares_cells_and_a_direction_for_its_headline(described):
    for test in described:
        assert grid.cells(test["base_point"], test["crosses"])
        for figure in test["headline"]:
            assert figure["better"] in {"lower", "higher"}
            assert figure["unit"]


def test_cells_that_need_threads_are_declared_at_multiple_only(described):
    for test in described:
        cases = {
            labels["case"] for labels in grid.cells(test["base_point"], test["crosses"]).values()
        }
        helpers = {case for case in cases if case.startswith("helper")}
        assert bool(helpers) == (test["thread_level"] == "multiple")


def test_quick_has_at_least_three_algorithms_two_flavors_and_four_cases(described):
    cells = [
        labels
        for test in described
        if "quick" in test["tags"] and test["setting"] == "default"
        for labels in grid.cells(test["base_point"], test["crosses"]).values()
    ]
    assert len({labels["algorithm"] for labels in cells}) >= 3
    assert {labels["flavor"] for labels in cells} == {"create", "allocate"}
    assert len({labels["case"] for labels in cells}) >= 4


def test_every_check_passes_a_dry_run(tmp_path):
    answer = reframe("--dry-run", session=tmp_path)
    assert "PASSED" in answer.stdout, answer.stdout[-2000:]
    assert "0 failure(s)" in answer.stdout
    assert answer.returncode == 0


def test_the_kernel_lists_the_very_cells_that_the_check_declares(described, kernel_prefix):
    for test in described:
        declared = grid.blocks(test["base_point"], test["crosses"])
        options = [f"--cells={grid.block_option(block)}" for block in declared]
        answer = subprocess.run(
            [kernel_prefix / "bin" / test["kernel"], "--list-cells", *options],
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.split() == list(grid.cells(test["base_point"], test["crosses"]))


def test_a_check_for_an_environment_that_cannot_be_had_is_skipped_with_the_reason_kept(tmp_path):
    name = next(iter(environments.declared()))
    build = tmp_path / "build"
    answer = subprocess.run(
        [*REFRAME, "--tag=smoke", f"--prgenv=^{environments.reframe_name(name)}$", "--run"],
        cwd=ROOT,
        env={
            **paths_environment(),
            "ONESIDED_BUILD": str(build),
            "ONESIDED_SESSION": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "skipped" in answer.stdout
    assert paths.project_root() == ROOT
    reasons = [json.loads(line) for line in (tmp_path / "skips.jsonl").read_text().splitlines()]
    assert all(record["verdict"] == "unavailable" for record in reasons)
    assert all("not provided yet" in record["reason"] for record in reasons)
