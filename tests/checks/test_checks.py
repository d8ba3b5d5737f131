"""The checks as ReFrame sees them: all load, and all describe their grid."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.campaign import grid, records
from onesided.environments import declarations, provision
from onesided.regression import references
from onesided.studies.stfc.progress.analysis import probe_of_series
from onesided.system import paths

ROOT = Path(__file__).parents[2]
REFRAME = [
    str(Path(sys.executable).with_name("reframe")),
    f"--config-file={ROOT / 'reframe_checks/sites/laptop.py'}",
    f"--checkpath={ROOT / 'reframe_checks'}",
    "--recursive",
]


FIRST = provision.reframe_name("mpich-5.0.2")


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
    helped = set()
    for test in described:
        for labels in grid.cells(test["base_point"], test["crosses"]).values():
            state = labels.get("case") or labels.get("target_state") or ""
            if state.startswith("helper"):
                assert test["thread_level"] == "multiple"
                helped.add(test["kernel"])
    assert {"shared_counter", "progress"} <= helped


def cells_of_quick(described, kernel):
    return [
        labels
        for test in described
        if "quick" in test["tags"] and test["setting"] == "default" and test["kernel"] == kernel
        for labels in grid.cells(test["base_point"], test["crosses"]).values()
    ]


def test_quick_has_at_least_three_algorithms_two_flavors_and_four_cases(described):
    cells = cells_of_quick(described, "shared_counter")
    assert len({labels["algorithm"] for labels in cells}) >= 3
    assert {labels["flavor"] for labels in cells} == {"create", "allocate"}
    assert len({labels["case"] for labels in cells}) >= 4


def test_quick_has_the_truth_table_of_four_operations_and_four_target_states(described):
    cells = cells_of_quick(described, "progress")
    computing = {
        (labels["operation"], labels["flavor"], labels["synchronisation"])
        for labels in cells
        if labels["target_state"] == "computes"
    }
    assert computing == {
        (operation, flavor, synchronisation)
        for operation in ("put", "get", "accumulate", "fetch_and_op")
        for flavor in ("create", "allocate")
        for synchronisation in ("lock_exclusive", "lock_all_flush")
    }
    states = {labels["target_state"] for labels in cells}
    assert states == {"computes", "idle", "computes_probing", "helper_blocked"}


def test_origin_threads_and_processes_have_the_ranks_and_the_level_they_need(described):
    found = set()
    for test in described:
        if test["kernel"] != "origin_threads":
            continue
        for labels in grid.cells(test["base_point"], test["crosses"]).values():
            origins = int(labels["origins"])
            of_processes = labels["arrangement"] == "processes"
            assert test["ranks"] == (1 + origins if of_processes else 2)
            assert of_processes or origins == 1 or test["thread_level"] == "multiple"
            found.add((labels["arrangement"], origins, test["thread_level"]))
    several = {(kind, n) for kind, n, level in found if level == "multiple"}
    assert several == {(kind, n) for kind in ("one_window", "window_each") for n in (1, 2, 4)}
    assert {n for kind, n, _ in found if kind == "processes"} == {1, 2, 4}
    assert len({level for kind, n, level in found if (kind, n) == ("one_window", 1)}) == 4


#: Every check under one MPI, one check under every MPI, and another check under every setting.
DRY_RUNS = {
    "every check": ("--filter-expr=setting == 'default'", f"--prgenv=^{FIRST}$"),
    "every MPI": ("--tag=smoke", "--filter-expr=thread_level == 'single'"),
    "every setting": (
        "--name=^Progress", "--filter-expr=thread_level == 'single'", f"--prgenv=^{FIRST}$"
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", DRY_RUNS)
def test_checks_pass_a_dry_run(ready_environment, tmp_path, what):
    ready_environment("mpich-5.0.2")
    answer = reframe("--dry-run", *DRY_RUNS[what], session=tmp_path)
    assert "PASSED" in answer.stdout, answer.stdout[-2000:]
    assert "0 failure(s)" in answer.stdout
    assert answer.returncode == 0


def test_a_check_for_an_environment_that_cannot_be_had_is_skipped_with_the_reason_kept(tmp_path):
    name = next(iter(declarations.declared()))
    build = tmp_path / "build"
    one_check = f"--checkpath={ROOT / 'reframe_checks/shared_counter.py'}"
    answer = subprocess.run(
        [*REFRAME[:2], one_check, f"--prgenv=^{provision.reframe_name(name)}$", "--run"],
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


def run_progress(session):
    """Run the progress check of one thread level under the first environment; return its output."""
    return reframe(
        "--name=ProgressQuick",
        "--filter-expr=setting == 'default' and thread_level == 'single'",
        f"--prgenv=^{provision.reframe_name('mpich-5.0.2')}$",
        "--keep-stage-files",
        "--run",
        session=session,
    ).stdout


@pytest.mark.slow
@pytest.mark.measures
def test_a_cell_that_was_independent_and_waits_fails_the_check(
    ready_environment, tmp_path, monkeypatch
):
    ready_environment("mpich-5.0.2")
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    (first, second, third) = (tmp_path / name for name in ("first", "second", "third"))
    for folder in (first, second, third):
        folder.mkdir()
    assert "0 failure(s)" in run_progress(first)
    lines = next(first.rglob("output/**/lines.jsonl"))
    launch = records.read_launch(lines, lines.with_name("launches.jsonl"))
    probes = {
        cell: probe_of_series(result["series"])
        for cell, result in launch.results.items()
        if "target_state=computes," in cell
    }
    waiting = [cell for cell, probe in probes.items() if probe.early_fraction == 0.0]
    free = [cell for cell, probe in probes.items() if probe.early_fraction == 1.0]
    assert waiting and free

    def keep(words):
        path = references.file_of("laptop", "node", "mpich-5.0.2")
        test = launch.headers[0]["labels"]
        assert test["environment"] == "mpich-5.0.2"
        name = "ProgressQuick %setting=default %thread_level=single %ranks=2 %placement=unbound"
        document = {
            "schema": references.SCHEMA,
            "system": "laptop",
            "partition": "node",
            "environment": "mpich-5.0.2",
            "campaign": "test",
            "tests": {name: words},
        }
        references.write({path: document}, replace=True)

    keep(dict.fromkeys(free, "independent") | dict.fromkeys(waiting, "waits"))
    assert "0 failure(s)" in run_progress(second)
    keep({waiting[0]: "independent"})
    said = run_progress(third)
    assert "1 failure(s)" in said
    assert f"{waiting[0]}: was independent, now waits (0% of" in said
