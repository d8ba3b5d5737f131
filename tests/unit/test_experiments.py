"""A second experiment is one entry, one analysis module and one page module."""

from __future__ import annotations

import sys
import types

import polars as pl
import synthetic

from onesided import report, tables, verdicts
from onesided.analyse import analyse, read_verdicts
from onesided.experiments import EXPERIMENTS, Experiment, shared_counter
from onesided.report.parts import Column, Headline, Section, Table


def _second(monkeypatch):
    """Register an experiment that borrows the counter's analysis and has a page of its own."""
    page = types.ModuleType("second_page")
    table = Table("second_answer", "An answer.", [Column("environment", "MPI", header=True)], [])
    page.headline = lambda material: Headline(["The second answer."], table)
    page.sections = lambda material: [Section("second", "The second section", "", (table,))]
    page.terminal_lines = lambda material: ["the second line"]
    monkeypatch.setitem(sys.modules, "second_page", page)
    entry = Experiment("second", "The second experiment", shared_counter.__name__, "second_page")
    monkeypatch.setitem(EXPERIMENTS, "second", entry)


def test_a_second_experiment_needs_no_change_elsewhere(tmp_path, monkeypatch):
    _second(monkeypatch)
    folder = synthetic.campaign(tmp_path, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    level = pl.when(pl.col("thread_level") == "single").then(pl.lit("second"))
    pl.read_parquet(path).with_columns(
        level.otherwise(pl.col("kernel")).alias("kernel")
    ).write_parquet(path)
    analyse(folder)
    judged = [c for c in read_verdicts(folder / "verdicts.json") if c["kernel"] == "second"]
    assert {cell["verdict"] for cell in judged} > {verdicts.WAITS, verdicts.INDEPENDENT}
    text = report.build(folder).read_text("utf-8")
    for said in ("The shared counter", "The second answer.", "The second section"):
        assert said in text
    assert 'data-table="grid_second"' in text
    assert (folder / "report" / "grid_second.csv").is_file()
    assert "the second line" in report.terminal_summary(folder)
    summary = tables.read_table(folder / "summary.parquet", tables.SUMMARY_COLUMNS)
    assert set(summary["kernel"]) == {"second", "shared_counter"}
