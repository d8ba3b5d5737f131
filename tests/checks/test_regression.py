"""Claims about ReFrame's mode regression: what a reference finds, and how ReFrame reports it."""

import functools
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from kernels import launching
from onesided import sites
from onesided.campaign import grid
from onesided.environments import provision, settings
from onesided.regression import known_defects, propose, references, repeats

pytestmark = [pytest.mark.slow, pytest.mark.measures]

ROOT = Path(__file__).parents[2]
MPI = "mpich-5.0.2"
PLACE = ("laptop", "node", MPI)
TEST = "ProgressQuick %setting=default %thread_level=single %ranks=2 %placement=unbound"
FLUSHED = "synchronisation=lock_all_flush,data=contiguous,size_bytes=8"
#: Cells of the test: one with an idle target, and one that is independent unless the library may
#: not use shared memory.
IDLE = f"operation=put,flavor=create,{FLUSHED},target_state=idle,probe_interval_us=100"
COMPUTES = f"operation=put,flavor=allocate,{FLUSHED},target_state=computes,probe_interval_us=100"
#: One of so many comparisons has to decide. Between two runs, the cores of a virtual machine may
#: begin or stop to share a cache, so that latencies change by a factor of nearly three. Or the
#: cores do less at a time than before, so that nothing can be decided.
TRIES = 3
#: Options of the kernel that make a launch short, for claims that are not about verdicts.
BRIEF = "samples:1,retakes:0"
#: The beginning of the warning about an undecided figure.
WHY = "no launch showed them well below their bounds"


@dataclass(frozen=True)
class Run:
    """A run of ReFrame: its output, and its report of the one test."""

    output: str
    case: dict

    @property
    def figures(self):
        """The performance variables in ReFrame's report."""
        found = self.case["perfvalues"] or {}
        return {name.removeprefix("laptop:node:"): values for name, values in found.items()}

    def holds(self, name):
        """Tell whether a figure had a bound."""
        return name in self.figures and self.figures[name][3] is not None


@pytest.fixture(scope="module")
def campaign(tmp_path_factory, ready_environment):
    ready_environment(MPI)
    return run_campaign(tmp_path_factory.mktemp("campaign"))


def run_campaign(folder):
    """Run five rounds of the test as a campaign; return its results."""
    document = {
        "schema": "onesided/campaign/1",
        "description": "a test",
        "site": "laptop",
        "partitions": ["laptop:node"],
        "environments": [MPI],
        "rounds": 5,
        "select": {
            "tags": ["regression"],
            "expression": "kernel == 'progress' and thread_level == 'single'",
        },
        "settings": ["default"],
        "launch_timeout_s": 60,
    }
    folder.mkdir(exist_ok=True)
    path = folder / "short.yaml"
    path.write_text(yaml.safe_dump(document))
    answer = onesided("run", path, ONESIDED_RESULTS=folder / "results")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return folder / "results" / "short"


def onesided(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "onesided.cli", *map(str, arguments)],
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def kept(campaign, tmp_path, monkeypatch):
    """Keep the campaign's verdicts; return the file."""
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    keep_references(campaign)
    return references.file_of(*PLACE)


def keep_references(*arguments):
    answer = onesided("references", *arguments)
    assert answer.returncode == 0, answer.stderr


def keep(path, figures=(), verdicts=()):
    """Write the verdicts of these cells, and bounds of twice these values, into a file."""
    document = json.loads(path.read_text())
    document["figures"] = {
        TEST: {
            references.figure_name("latency", cell): {
                "value": value,
                "upper": propose.BOUND_FACTOR * value,
                "unit": "s",
                "launches": 5,
            }
            for cell, value in dict(figures).items()
        }
    }
    document["tests"] = {TEST: {cell: document["tests"][TEST][cell] for cell in verdicts}}
    references.write({path: document}, replace=True)


def know(shows_as, cell, **more):
    """Write a known defect of one cell; return its issue."""
    entry = {
        "name": "mpi-17",
        "issue": "https://example.org/mpi/issues/17",
        "what": "a known fault",
        "shows_as": shows_as,
        "environments": ["mpich-*"],
        "cells": [cell],
        **more,
    }
    document = {"schema": "onesided/known_defects/1", "defects": [entry]}
    references.folder().mkdir(exist_ok=True)
    (references.folder() / known_defects.FILE).write_text(yaml.safe_dump(document))
    return entry["issue"]


def reframe(folder, *options, **variables):
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("reframe")),
            f"--config-file={ROOT / 'reframe_checks/sites/laptop.py'}",
            *options,
        ],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "ONESIDED_SETTINGS": "default", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def options_of_the_mode():
    """Return the options of ReFrame's mode regression, for the checks of one file only."""
    options = [shlex.split(option)[0] for option in sites.regression_mode()["options"]]
    kept = [one for one in options if not one.startswith(("--checkpath", "--recursive"))]
    return (*kept, f"--checkpath={ROOT / 'reframe_checks/progress.py'}")


def regression(folder, *options, mode=None, **variables):
    """Run the test of one thread level under one MPI, as ReFrame's mode regression does."""
    report = folder / "report.json"
    answer = reframe(
        folder,
        *(options_of_the_mode() if mode is None else [f"--mode={mode}"]),
        # with a mode, -p adds to ReFrame's default of every environment
        f"--setvar=valid_prog_environs={provision.reframe_name(MPI)}",
        "--name=ProgressQuick.*single",
        f"--prefix={folder}",
        f"--perflogdir={folder}/perflogs",
        f"--report-file={report}",
        *options,
        "--run",
        **variables,
    )
    cases = json.loads(report.read_text())["runs"][0]["testcases"]
    return Run(
        answer.stdout, next(case for case in cases if case["name"].startswith("ProgressQuick"))
    )


def with_options(options=BRIEF):
    """Return the option that passes options to the kernel."""
    return f"--setvar=kernel_options={options}"


@functools.cache
def cells_of_the_test():
    """Return the ids of the test's cells, in the order of a launch."""
    from test_checks import REFRAME

    answer = subprocess.run(
        [*REFRAME, "--name=ProgressQuick.*single", "-E", "setting == 'default'", "--describe"],
        capture_output=True,
        text=True,
        check=True,
    )
    (test,) = json.JSONDecoder().raw_decode(answer.stdout, answer.stdout.index("[\n"))[0]
    return list(grid.cells(test["base_point"], test["crosses"]))


@pytest.fixture
def with_fault(ready_environment):
    """Return a function that gives the variables for a fault in one cell, or in whole launches."""
    environment = launching.Environment(ready_environment(MPI))

    def variables(fault, cell=None):
        here = f" {cells_of_the_test().index(cell)}" if cell else ""
        kept = {"ONESIDED_KEEP_ENVIRONMENT": "1"}  # otherwise, variables for an MPI are removed
        return {**launching.with_fault(environment, fault + here), **kept}

    return variables


def test_a_proposed_reference_is_met_by_a_second_run(campaign, kept, tmp_path):
    for again in range(TRIES):
        measured = run_campaign(tmp_path / f"campaign{again}") if again else campaign
        keep_references("propose", measured, "--replace")
        document = json.loads(kept.read_text())
        bounded, refused = (document[key].get(TEST, {}) for key in ("figures", "refused"))
        assert len(bounded) + len(refused) == 32
        assert all(figure["misses"] <= 3 for figure in bounded.values())
        run = regression(tmp_path, mode="regression")
        assert run.figures["held_figures"][0] == sum(map(run.holds, bounded))
        assert not any(map(run.holds, refused))
        if "undecided_figures" not in (run.case["fail_reason"] or ""):
            break
    assert run.case["result"] == "pass", run.case["fail_reason"]


def test_a_latency_well_below_its_bound_passes_in_one_launch(kept, tmp_path):
    keep(kept, figures={IDLE: 1.0})
    run = regression(tmp_path, with_options())
    assert run.case["result"] == "pass"
    assert run.holds(references.figure_name("latency", IDLE))
    assert run.figures["launches"][0] == 1


def test_a_latency_that_is_higher_fails_and_says_which_and_how_high(kept, with_fault, tmp_path):
    name = references.figure_name("latency", IDLE)
    slow = (with_options(), f"--report-junit={tmp_path}/junit.xml")
    fault = with_fault("slow any each all")
    for _ in range(TRIES):
        keep(kept, figures={IDLE: 1.0})
        seen = regression(tmp_path, with_options())
        keep(kept, figures={IDLE: seen.figures[name][0]})
        before, run = regression(tmp_path, with_options()), regression(tmp_path, *slow, **fault)
        if (before.case["result"], run.case["result"]) == ("pass", "fail"):
            break
    assert before.case["result"] == "pass", before.case["fail_reason"]
    assert before.holds(name)
    assert (run.case["result"], run.case["fail_phase"]) == ("fail", "performance")
    value, reference, _, upper, *_ = run.figures[name]
    assert upper == pytest.approx(1) and value > 2 * reference
    reason = run.case["fail_reason"]
    assert f"failed to meet reference(s): {name}={value} s, expected {reference}" in reason
    assert f"u={reference * (1 + upper)}" in reason
    # each repeat is its own launch, and all launches are kept
    assert run.figures["launches"][0] == repeats.ENOUGH_LAUNCHES
    records = list(tmp_path.glob(f"stage/**/{repeats.EARLIER}*/{repeats.LAUNCHES}"))
    assert len(records) == repeats.ENOUGH_LAUNCHES - 1
    assert len({record.read_text() for record in records}) == len(records)
    # outputs of ReFrame: JUnit, the performance log, the results of earlier sessions
    assert name in (tmp_path / "junit.xml").read_text()
    log = (tmp_path / "perflogs/laptop/node/ProgressQuick.log").read_text().splitlines()
    assert f"{name}={value} s (r={reference} l=None u={upper})" in log[-1]
    listed = reframe(tmp_path, "--list-stored-testcases=now-1h:now/mean:/")
    assert name in listed.stdout


def test_a_latency_that_no_launch_can_decide_fails_and_is_named(kept, tmp_path):
    """On a core that does less at a time than the campaign's core, as beside a burner."""
    keep(kept, figures={IDLE: 1e-12})
    document = json.loads(kept.read_text()) | {"least_width": 1e9}
    references.write({kept: document}, replace=True)
    run = regression(tmp_path, with_options())
    assert (run.case["result"], run.case["fail_phase"]) == ("fail", "performance")
    assert run.figures["launches"][0] == repeats.MOST_LAUNCHES
    assert "undecided_figures=1 figures, expected 0" in run.case["fail_reason"]
    assert f"1 of 1 figures are not decided: {WHY}" in run.output
    assert references.figure_name("latency", IDLE) in run.output


def test_outside_the_mode_times_fail_nothing(kept, tmp_path):
    keep(kept, figures={IDLE: 1e-12})
    run = regression(tmp_path, "--setvar=hold_figures=no", with_options())
    assert run.case["result"] == "pass"
    assert "held_figures" not in run.figures


def test_a_verdict_that_turned_fails_unless_it_is_a_known_defect(kept, tmp_path):
    keep(kept, verdicts=[COMPUTES])
    assert json.loads(kept.read_text())["tests"][TEST] == {COMPUTES: "independent"}
    without_shared_memory = {
        **settings.value("no_shm", "mpich", "5.0.2").variables,
        "ONESIDED_KEEP_ENVIRONMENT": "1",  # otherwise, the shell's variables for an MPI are removed
    }
    run = regression(tmp_path, **without_shared_memory)
    assert (run.case["result"], run.case["fail_phase"]) == ("fail", "sanity")
    assert (
        f"1 verdicts turned; ['{COMPUTES}: was independent, now waits (0% of"
        in (run.case["fail_reason"])
    )
    issue = know("turned", COMPUTES)
    run = regression(tmp_path, **without_shared_memory)
    assert run.case["result"] == "xfail"
    assert issue in run.output


def test_a_known_defect_that_no_longer_shows_is_told(kept, tmp_path):
    keep(kept, verdicts=[COMPUTES])
    know("turned", COMPUTES)
    run = regression(tmp_path)
    assert run.case["result"] in ("fail", "xpass")
    assert "reference(s) met unexpectedly: known_defect[mpi-17]=0 cells" in run.output


def test_wrong_data_fails_unless_it_is_a_known_defect_and_hides_no_other(
    kept, with_fault, tmp_path
):
    kept.unlink()
    wrong = with_fault("alter any 1 all", IDLE)
    run = regression(tmp_path, with_options(), **wrong)
    assert (run.case["result"], run.case["fail_phase"]) == ("fail", "sanity")
    assert f"1 of 32 cells failed; ['{IDLE}: wrong_data" in run.case["fail_reason"]
    know("wrong_data", IDLE)
    assert regression(tmp_path, with_options(), **wrong).case["result"] == "xfail"
    run = regression(tmp_path, with_options(), **with_fault("alter any 1 all", COMPUTES))
    assert (run.case["result"], run.case["fail_phase"]) == ("fail", "sanity")


def test_a_known_slow_cell_is_an_expected_failure(kept, tmp_path):
    keep(kept, figures={IDLE: 1e-12})
    issue = know("slow", IDLE)
    run = regression(tmp_path, with_options())
    assert run.case["result"] == "xfail"
    assert issue in run.output
