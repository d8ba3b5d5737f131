"""A further experiment is a package with a description, an analysis and a page."""

from __future__ import annotations

import sys
import types

import polars as pl
import pytest
import synthetic

from onesided import experiments, report
from onesided.campaign import parquet, tables
from onesided.cells import verdicts
from onesided.cells.experiment import Experiment, Study
from onesided.measure.analyse import analyse
from onesided.measure.judged import read_verdicts
from onesided.report.parts import Column, Headline, Section, Table
from onesided.studies import find
from onesided.studies.stfc.shared_counter import analysis as shared_counter
from onesided.system.errors import InputError

OTHERS = Study("others", "Others")


def _second(monkeypatch):
    """Register an experiment that borrows the counter's analysis and has a page of its own."""
    page = types.ModuleType("second_page")
    table = Table("second_answer", "An answer.", [Column("environment", "MPI", header=True)], [])
    page.headline = lambda material: Headline(["The second answer."], table)
    page.sections = lambda material: [Section("second", "The second section", "", (table,))]
    page.terminal_lines = lambda material: ["the second line"]
    monkeypatch.setitem(sys.modules, "second_page", page)
    entry = Experiment(
        "second", "The second experiment", OTHERS, shared_counter.__name__, "second_page"
    )
    monkeypatch.setitem(find(), "second", entry)


def test_a_second_experiment_needs_no_change_elsewhere(tmp_path, monkeypatch):
    _second(monkeypatch)
    folder = synthetic.campaign(tmp_path, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    level = pl.when(pl.col("thread_level") == "single").then(pl.lit("second"))
    pl.read_parquet(path).with_columns(
        level.otherwise(pl.col("kernel")).alias("kernel")
    ).write_parquet(path)
    analyse(folder, find())
    judged = [c for c in read_verdicts(folder / "verdicts.json") if c["kernel"] == "second"]
    assert {cell["verdict"] for cell in judged} > {verdicts.WAITS, verdicts.INDEPENDENT}
    text = report.build(report.load(folder, find())).read_text("utf-8")
    for said in ("The shared counter", "The second answer.", 'href="others.html"'):
        assert said in text
    own = (folder / "report" / "others.html").read_text("utf-8")
    for said in ("The second section", 'data-table="grid_second"'):
        assert said in own
    assert (folder / "report" / "grid_second.csv").is_file()
    assert "the second line" in report.terminal_summary(report.load(folder, find()))
    summary = parquet.read_table(folder / "summary.parquet", tables.SUMMARY_COLUMNS)
    assert set(summary["kernel"]) == {"second", "shared_counter"}


def test_an_experiment_is_found_by_being_there(tmp_path, monkeypatch):
    package = tmp_path / "found_experiment"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from onesided.cells.experiment import Experiment, FigureOfMerit, Study\n"
        "EXPERIMENT = Experiment(\n"
        "    'found', 'Found', Study('others', 'Others'), f'{__name__}.analysis',\n"
        "    f'{__name__}.page', order=2,\n"
        "    merit=FigureOfMerit('time', 'median'))\n",
        "utf-8",
    )
    (package / "analysis.py").write_text("MINE = 'analysis'\n", "utf-8")
    (package / "page.py").write_text("MINE = 'page'\n", "utf-8")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(tmp_path)])
    found = experiments.find()
    assert found.keys() - find().keys() == {"found"}
    assert (found["found"].analysis.MINE, found["found"].page.MINE) == ("analysis", "page")
    # where a report shows it is its own word
    places = [list(found).index(name) for name in ("progress", "found", "baseline")]
    assert places == sorted(places)
    monkeypatch.setattr(experiments, "find()", found)
    assert experiments.merits()["found"].metric == "time"


def test_what_an_experiment_lacks_is_said(monkeypatch):
    experiments.demand(find())
    with pytest.raises(InputError, match="experiments/nobody: found no package; expected the exp"):
        experiments.demand(["progress", "nobody"])
    page = types.ModuleType("half_a_page")
    page.sections = page.headline = lambda material: None
    monkeypatch.setitem(sys.modules, "half_a_page", page)
    entry = Experiment("half", "Half", OTHERS, shared_counter.__name__, "half_a_page")
    monkeypatch.setitem(find(), "half", entry)
    with pytest.raises(InputError, match="experiments/half/page: found no terminal_lines"):
        experiments.demand(["half"])
