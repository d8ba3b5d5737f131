"""An experiment is a module of a study with a description, an analysis and a page."""

from __future__ import annotations

import pickle
import types

import polars as pl
import pytest
from made_up import counter

from onesided import report, studies
from onesided.campaign import parquet, tables
from onesided.cells import verdicts
from onesided.cells.experiment import Experiment, Experiments, Study
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.report.parts import Column, Headline, Section, Table
from onesided.studies.stfc.shared_counter import analysis as shared_counter
from onesided.system.errors import InputError

OTHERS = Study("others", "Others")


def with_another(entry):
    return Experiments(lambda: [*studies.find().values(), entry])


def second():
    """Return an experiment that borrows the counter's analysis and has a page of its own."""
    table = Table("second_answer", "An answer.", [Column("environment", "MPI", header=True)], [])
    page = types.SimpleNamespace(
        headline=lambda material: Headline(["The second answer."], table),
        sections=lambda material: [Section("second", "The second section", "", (table,))],
        terminal_lines=lambda material: ["the second line"],
    )
    return with_another(Experiment("second", "The second experiment", OTHERS, shared_counter, page))


def test_a_second_experiment_needs_no_change_elsewhere(tmp_path):
    experiments = second()
    folder = counter.campaign(tmp_path, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    level = pl.when(pl.col("thread_level") == "single").then(pl.lit("second"))
    pl.read_parquet(path).with_columns(
        level.otherwise(pl.col("kernel")).alias("kernel")
    ).write_parquet(path)
    analyse(folder, experiments)
    judged = [c for c in read_verdicts(folder / "verdicts.json") if c["kernel"] == "second"]
    assert {cell["verdict"] for cell in judged} > {verdicts.WAITS, verdicts.INDEPENDENT}
    text = report.build(report.load(folder, experiments)).read_text("utf-8")
    for said in ("The shared counter", "The second answer.", 'href="others.html"'):
        assert said in text
    own = (folder / "report" / "others.html").read_text("utf-8")
    for said in ("The second section", 'data-table="grid_second"'):
        assert said in own
    assert (folder / "report" / "grid_second.csv").is_file()
    assert "the second line" in report.terminal_summary(report.load(folder, experiments))
    summary = parquet.read_table(folder / "summary.parquet", tables.SUMMARY_COLUMNS)
    assert set(summary["kernel"]) == {"second", "shared_counter"}


def test_an_experiment_is_found_by_being_there(tmp_path, monkeypatch):
    study = tmp_path / "found_study"
    study.mkdir()
    (study / "__init__.py").touch()
    (study / "found.py").write_text(
        "from onesided.cells.experiment import Experiment, FigureOfMerit, Study\n"
        "EXPERIMENT = Experiment(\n"
        "    'found', 'Found', Study('others', 'Others'), 'analysis', 'page', order=2,\n"
        "    merit=FigureOfMerit('time', 'median'))\n",
        "utf-8",
    )
    (study / "part.py").write_text("NONE = 'of its own'\n", "utf-8")
    before = studies.find()
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    found = studies.find.__wrapped__()
    assert found.keys() - before.keys() == {"found"}
    assert (found["found"].analysis, found["found"].page) == ("analysis", "page")
    # the experiment itself says where a report shows it
    places = [list(found).index(name) for name in ("progress", "found", "baseline")]
    assert places == sorted(places)
    assert found.merits["found"].metric == "time"


def test_what_an_experiment_lacks_is_said(monkeypatch):
    studies.demand(studies.find())
    with pytest.raises(InputError, match="studies: nobody: found no module; expected the exp"):
        studies.demand(["progress", "nobody"])
    page = types.SimpleNamespace(sections=None, headline=lambda material: None)
    half = with_another(Experiment("half", "Half", OTHERS, shared_counter, page))
    monkeypatch.setattr(studies, "of_kernel", half.get)
    with pytest.raises(InputError, match="half: page: found no sections, terminal_lines"):
        studies.demand(["half"])


def test_another_process_finds_the_same_experiments():
    found = pickle.loads(pickle.dumps(studies.find()))
    assert list(found) == list(studies.find())
