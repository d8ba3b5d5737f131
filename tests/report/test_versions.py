"""Campaigns side by side show since which version an access completes during compute."""

from __future__ import annotations

import csv

import pytest
from made_up import progress
from made_up.progress import Environment
from opened import opened

from onesided.measure.analyse import analyse
from onesided.report import versions
from onesided.studies import find

GRID = progress.grid(("put", "get"))
WAY = "MPI_Win_allocate, lock_all and flush"


def mpi(name, behaviour):
    return Environment(name, name.partition("-")[0], lambda at, setting: behaviour(at))


def waits(at):
    return "waits"


def flushes(at):
    flushed = at["synchronisation"] == "lock_all_flush" and at["flavor"] == "allocate"
    return "independent" if flushed else "waits"


def only_puts(at):
    return "independent" if at["operation"] == "put" else "waits"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    def made(*environments):
        folder = tmp_path_factory.mktemp("campaign")
        progress.campaign(folder, list(environments), GRID, ["default"], ["single"], 6)
        analyse(folder, find())
        return folder

    return made


@pytest.fixture(scope="module")
def three(campaign):
    """MPICH in three campaigns, the newest version first, and an MPI that does not change."""
    return [
        campaign(mpi("mpich-5.0.11", flushes), mpi("openmpi-5.0.8", waits)),
        campaign(mpi("mpich-5.0.2", waits), mpi("openmpi-5.0.8", waits)),
        campaign(mpi("mpich-4.3.0", waits)),
    ]


def test_it_says_in_which_version_a_verdict_changed(three):
    _, found = versions.read(three, find())
    assert versions.sentences(found) == [
        "1 verdict changed from one version to the next.",
        f"{WAY}: mpich 5.0.11: independent; 5.0.2: waits.",
    ]


def test_without_a_change_it_says_so(three):
    _, found = versions.read(three[1:], find())
    assert versions.sentences(found) == ["No verdict changed from one version to the next."]


def test_versions_are_columns_of_their_mpi_the_oldest_first(three):
    _, [beside] = versions.read(three, find())
    assert [name for name, _ in versions.matrix(beside).columns] == ["mpich", "openmpi"]
    [(_, mpich), (_, openmpi)] = versions.matrix(beside).columns
    assert mpich == ["4.3.0", "5.0.2", "5.0.11"]
    # measured in two campaigns: the page distinguishes them
    assert [name.partition(",")[0] for name in openmpi] == ["5.0.8", "5.0.8"]
    assert len(set(openmpi)) == 2


def test_cells_that_differ_are_mixed_and_say_how_many(campaign):
    _, [beside] = versions.read([campaign(mpi("mpich-5.0.2", only_puts))], find())
    marks = [mark for row in versions.matrix(beside).rows for place in row.places for mark in place]
    assert {mark.word for mark in marks} == {"mixed"}
    assert all("1\u202findependent, 1\u202fwaits" in mark.title for mark in marks)


def test_the_command_prints_it_and_writes_a_page_with_its_numbers(three, onesided, tmp_path):
    answer = onesided("versions", *three, "--page", tmp_path / "page")
    assert answer.returncode == 0, answer.stderr
    assert f"{WAY}: mpich 5.0.11: independent; 5.0.2: waits." in answer.stdout
    with (tmp_path / "page" / "versions_progress.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 4 * 5
    independent = [row for row in rows if row["verdict"] == "independent"]
    assert [(row["environment"], row["cells"]) for row in independent] == [("mpich-5.0.11", "2")]


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_is_scanned_and_a_symbol_opens(browser, three, width, tmp_path):
    every, found = versions.read(three, find())
    path = versions.build(every, found, tmp_path)
    with opened(browser, path, width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".matrix button.good").count() == 1
        page.locator(".matrix button.good").click()
        assert "2\u202findependent" in page.locator(".evidence:popover-open").inner_text()
        assert page.said == []
