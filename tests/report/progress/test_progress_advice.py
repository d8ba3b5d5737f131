"""The advice of the progress page, and the files for a shell."""

from __future__ import annotations

import subprocess

import markupsafe
from made_up import progress
from progress_page import made

from onesided import report
from onesided.studies import find
from onesided.studies.stfc.progress.rerun import claims


def test_each_environment_has_a_file_that_a_shell_takes(page, text):
    files = sorted(path.name for path in (page.parent / "advice").iterdir())
    assert files == [
        "b_none_b-bee3ede2.txt",
        "impi-2021.18.1.txt",
        "mpich-5.0.2.sh",
        "openmpi-5.0.11.txt",
    ]
    for name in files:
        path = page.parent / "advice" / name
        subprocess.run(["sh", "-n", path], check=True)
        subprocess.run(["sh", "-c", 'set -eu; . "$1"', "sh", path], check=True)
        assert f'href="advice/{name}"' in text


def exports(page, name):
    lines = (page.parent / "advice" / name).read_text("utf-8").splitlines()
    assert all(line.startswith(("#", "export ")) for line in lines)
    return [line for line in lines if line.startswith("export ")]


def test_only_what_helps_without_failures_is_exported(page):
    assert exports(page, "mpich-5.0.2.sh") == ["export MPIR_CVAR_ASYNC_PROGRESS=1"]
    for name in ("openmpi-5.0.11.txt", "impi-2021.18.1.txt", "b_none_b-bee3ede2.txt"):
        assert exports(page, name) == []


def test_a_file_names_what_is_known_to_go_wrong_in_its_mpi(page):
    known = [
        (page.parent / "advice" / name).read_text("utf-8").count("# Known defect: ")
        for name in ("mpich-5.0.2.sh", "openmpi-5.0.11.txt", "b_none_b-bee3ede2.txt")
    ]
    assert known == [1, 5, 0]


def test_what_is_claimed_is_in_the_verdicts(page, material):
    known = {(c.environment, c.test, c.cell): c.verdict for c in material.cells}
    found = claims((page.parent / "advice" / "mpich-5.0.2.sh").read_text("utf-8"))
    assert len(found) > 10
    for claim in found:
        assert known[claim.environment, claim.test, claim.cell] == claim.verdict


def test_the_page_says_what_the_shell_files_say(text, page):
    for path in (page.parent / "advice").iterdir():
        assert markupsafe.escape(path.read_text("utf-8")) in text
    assert "No variable helps: async_thread turns 0 of 20 cells" in text
    assert "22 cells failed with it (crash)" in text


def test_without_other_settings_nothing_is_said_to_help(tmp_path):
    environments = progress.ENVIRONMENTS[:1]
    found = made(tmp_path, environments, progress.grid(), settings=("default",))
    text = found.read_text("utf-8")
    assert "Not tried in this campaign." in text
    assert exports(found, "mpich-5.0.2.txt") == []


def test_too_few_launches_recommend_nothing(tmp_path):
    found = made(tmp_path, progress.ENVIRONMENTS[:1], progress.grid(), rounds=2)
    assert exports(found, "mpich-5.0.2.txt") == []
    assert claims((found.parent / "advice" / "mpich-5.0.2.txt").read_text()) == []


def test_nothing_measured_at_all_still_makes_a_page(tmp_path):
    found = made(tmp_path, progress.ENVIRONMENTS[3:], progress.grid(), rounds=1)
    reason = "Nothing was decided at the default setting (unavailable: in 1 of 1 launches: wheel"
    assert reason in found.read_text("utf-8")
    assert "No cell was measured whose target computes." in report.terminal_summary(
        report.load(tmp_path, find())
    )


def test_cells_that_lack_rounds_are_not_called_unmeasured(tmp_path):
    made(tmp_path, progress.ENVIRONMENTS[:1], progress.grid(), rounds=1)
    said = report.terminal_summary(report.load(tmp_path, find()))
    assert "No cell was measured" not in said
    assert "is decided: 32 cells undecided (1 launch, 5 needed: 4 more rounds)." in said
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "No cell whose target computes is decided" in page
