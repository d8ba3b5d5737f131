"""The law of growth of a source's numbers is in the report beside today's, by the same function."""

from __future__ import annotations

import shutil

import pytest
from test_pivot import cell, material

from onesided.measure.statistics import FALLS, LAWS
from onesided.report.by_cores import Growth
from onesided.report.published import PublishedRows, PublishedTable
from onesided.studies import find
from onesided.system import paths

COLUMNS = {f"pe{number}_us": number for number in (16, 32, 64, 128, 256)}
IN_SOURCES = {
    "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all", "swapped_all_to_all",
    "some_to_some", "eager_limit", "matrix_vector",
}  # fmt: skip
"""The experiments whose source printed a number for several numbers of processes."""


def rows_of(growth):
    """Return the rows of the source's table by their series, and the table."""
    # a single number of ranks was measured, so there is no table of today
    (folded,) = growth.parts(material(cell()))
    return {row["series"]: row for row in folded.part.rows}, folded.part


@pytest.fixture
def naive_broadcast(tmp_path, monkeypatch):
    """Return a function that gives Table III's growth after a text in it is replaced."""
    source, root = paths.project_root() / "results" / "published", tmp_path / "results/published"
    root.mkdir(parents=True)
    for end in ("csv", "yaml"):
        shutil.copy(source / f"luecke_table3.{end}", root)
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))

    def changed(old="", new=""):
        numbers = root / "luecke_table3.csv"
        text = (source / numbers.name).read_text("utf-8")
        assert text.count(old) == 1 or not old
        numbers.write_text(text.replace(old, new) if old else text, "utf-8")
        curves = PublishedRows(PublishedTable("luecke_table3"), "series", COLUMNS)
        return rows_of(Growth("naive_broadcast", "time", published=[curves]))

    return changed


def test_a_sources_law_is_told_with_its_numbers_of_processes_its_machine_and_its_place(
    naive_broadcast,
):
    rows, table = naive_broadcast()
    assert {series: row["law"] for series, row in rows.items()} == {
        "Origin SHMEM": "linear",
        "Origin MPI-2": "linear",
        "T3E SHMEM": "none",
        "T3E MPI-2": "quadratic",
    }
    assert rows["Origin SHMEM"]["why"] == (
        "4.77\u202fµs to 43.8\u202fµs with 16, 32, 64, 128 and 256 processes; "
        "excluded: constant, logarithmic, quadratic"
    )
    assert "nearest: quadratic, within 1.1" in rows["T3E SHMEM"]["why"]
    assert rows["T3E MPI-2"]["place"].startswith("Table III, Luecke et al., 2004: naive broadcast")
    assert "a Cray T3E-600 (2004)" in table.caption
    assert (rows["T3E MPI-2"]["first"], rows["T3E MPI-2"]["last"]) == pytest.approx(
        (33.2e-6, 147.9e-6)
    )


def test_a_changed_number_of_the_source_turns_its_law(naive_broadcast):
    rows, _ = naive_broadcast("26.5,43.8", "26.5,143.8")
    assert rows["Origin SHMEM"]["law"] == "none"
    rows, _ = naive_broadcast("4.77,7.49,12.8,26.5,43.8", "4.77,4.8,4.7,4.9,5.0")
    assert rows["Origin SHMEM"]["law"] == "constant"
    assert "excluded" not in rows["Origin SHMEM"]["why"]


def test_a_number_that_looks_wrong_decides_nothing_and_is_named(naive_broadcast):
    rows, _ = naive_broadcast()
    assert rows["Origin MPI-2"]["why"].endswith("; doubtful, left out: 32")
    rows, _ = naive_broadcast("325.5,pe32_us,", "325.5,,")
    assert rows["Origin MPI-2"]["law"] == "none"
    assert "doubtful" not in rows["Origin MPI-2"]["why"]


def test_fewer_than_three_numbers_that_do_not_look_wrong_make_no_law(naive_broadcast):
    rows, _ = naive_broadcast("325.5,pe32_us,", "325.5,pe32_us pe64_us pe128_us,")
    assert "Origin MPI-2" not in rows and "T3E MPI-2" in rows


def published():
    """Yield the growth of each experiment whose source has numbers by processes."""
    for kernel, experiment in find().items():
        for one in getattr(experiment.page, "contents", ()):
            if isinstance(one, Growth) and one.published:
                yield kernel, one


def test_each_source_with_numbers_by_processes_has_its_laws_on_the_page():
    words = {*LAWS, *(FALLS + law for law in LAWS), "none"}
    found = {}
    for kernel, growth in published():
        rows, _ = rows_of(growth)
        assert {row["law"] for row in rows.values()} <= words
        found.setdefault(kernel, {}).update(rows)
    assert found.keys() == IN_SOURCES
    laws = {
        kernel: {name: row["law"] for name, row in rows.items()} for kernel, rows in found.items()
    }
    assert laws["right_shift"]["T3E SHMEM"] == "logarithmic"
    assert laws["tree_broadcast"]["T3E MPI2 PUT"] == "constant"
    # a limit of 65536 bytes that the tasks share, and work that they share
    assert set(laws["eager_limit"].values()) == {"1/linear"}
    assert laws["matrix_vector"]["1 thread"] == "1/linear"
    assert laws["some_to_some"]["MCR, Double-sided bandwidth"] == "1/logarithmic"


def test_a_number_of_processes_that_looks_wrong_is_left_out_of_the_curve():
    growth = next(one for kernel, one in published() if kernel == "swapped_all_to_all")
    rows, _ = rows_of(growth)
    assert rows["Gauss"]["why"].endswith("doubtful, left out: 32 and 48")
    assert rows["BG/L"]["why"].startswith(
        "38.0\u202fms to 980\u202fms with 12 numbers from 2 to 256"
    )
