"""Claims about proposed references: which figures are kept, the width of their bounds, and why."""

from __future__ import annotations

import json
import random
import shutil

import polars as pl
import pytest
from made_up import progress

from onesided import cli
from onesided.cells.experiment import Metric
from onesided.measure import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.regression import propose, references
from onesided.studies import find
from onesided.system import documents


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """Return the folder of a synthetic campaign with its analysis."""
    folder = tmp_path_factory.mktemp("results") / "weekly"
    progress.campaign(folder)
    analyse.analyse(folder, find())
    return folder


@pytest.fixture
def campaign(analysed, tmp_path, monkeypatch):
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    folder = tmp_path / "results" / "weekly"
    shutil.copytree(analysed, folder)
    return folder


def noisy(factor, seed, launches=6):
    """Return launches to whose latency the machine adds up to a factor."""
    source = random.Random(seed)
    return [1e-6 * factor ** source.random() for _ in range(launches)]


def test_a_bound_is_twice_the_least_launch_where_three_launches_agree_on_it():
    found = propose.propose([1.3e-6, 1e-6, 9e-6, 1.2e-6, 8e-6, 7e-6])
    assert found.refusal is None
    entry = found.entry(Metric("latency", "latency", "s"))
    assert "of" not in entry
    assert found.entry(Metric("get", "time", "s", "max"))["of"] == {
        "series": "time", "over_ranks": "max", "origins": False,
    }  # fmt: skip
    assert (entry["value"], entry["upper"], entry["launches"]) == (1e-6, 2e-6, 6)
    # the third least is 1.3 times the least
    assert entry["misses"] == pytest.approx(2.6)


def test_a_bound_above_two_times_is_refused_with_the_reason_and_how_many_rounds_would_give_one():
    found = propose.propose([1e-6, 1.1e-6, 1.8e-6, 3e-6, 4e-6, 9e-6])
    assert found.refusal == (
        "the bound would be 2.4 times the value, at most 2 allowed: the three least of 6 launches "
        "differ by a factor of 1.8; about 9 rounds would give one"
    )


def test_too_few_launches_are_refused_and_the_rounds_that_lack_are_named():
    found = propose.propose([1e-6, 1.1e-6, 1.2e-6])
    assert found.refusal == "measured in 3 launches, 5 needed; about 5 rounds would give one"
    # only one of them was near the least: more rounds than launches are needed
    assert "about 12 rounds" in propose.propose([1e-6, 3e-6, 4e-6, 5e-6]).refusal


def test_noisy_launches_are_refused_and_quiet_ones_are_not():
    refused = [propose.propose(noisy(100, seed)).refusal for seed in range(200)]
    assert sum(reason is not None for reason in refused) > 150
    assert all(propose.propose(noisy(1.4, seed)).refusal is None for seed in range(200))


def test_a_three_fold_slow_down_is_never_missed_where_a_bound_is_proposed():
    for factor in (1.1, 2, 5, 20, 100):
        for seed in range(100):
            found = propose.propose(noisy(factor, seed))
            assert found.refusal is not None or found.misses <= 3


def test_a_figure_is_kept_for_each_cell_but_helped_failed_and_other_settings(campaign, capsys):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    said = capsys.readouterr().out.splitlines()
    cells = read_verdicts(campaign / "verdicts.json")
    assert {line.partition(": ")[0] for line in said if not line.startswith(" ")} == {
        str(references.file_of(*(cell[name] for name in ("system", "partition", "environment"))))
        for cell in cells
        if cell["verdict"] == "independent"
    }
    kept = 0
    for cell in cells:
        if cell["verdict"] == "unavailable":
            continue  # the name of its environment is valid for pages, but not for a file
        path = references.file_of(*(cell[name] for name in ("system", "partition", "environment")))
        figures = references.read(path, cell["test"]).figures
        name = references.figure_name("latency", cell["cell"])
        left_out = (
            "helper" in cell["cell"]
            or cell["setting"] != "default"
            or cell["kernel"] != "progress"
            or cell["verdict"] in ("crash", "hang", "wrong data", "unavailable", "not run")
        )
        if left_out:
            assert name not in figures
        else:
            kept += 1
            figure = figures[name]
            assert figure["upper"] == pytest.approx(2 * figure["value"], rel=1e-3)
            assert figure["unit"] == "s" and figure["launches"] >= propose.LEAST_LAUNCHES
    assert kept > 10


def test_each_figure_is_said_with_what_it_misses_or_why_it_has_no_bound(campaign, capsys):
    make_noisy(campaign, "get")
    assert cli.main(["references", "propose", str(campaign)]) == 0
    said = capsys.readouterr().out.splitlines()
    documents_kept = [json.loads(path.read_text()) for path in references.folder().rglob("*.json")]
    bounded, refused = (
        [name for one in documents_kept for test in one[key].values() for name in test]
        for key in ("figures", "refused")
    )
    assert all("operation=get" in name for name in refused)
    assert refused and not any("operation=get" in name for name in bounded)
    for names, words in ((bounded, "misses a slow-down below 2"), (refused, "no bound: ")):
        for name in names:
            assert any(f" {name}: " in line and words in line for line in said), name
    assert f"{len(documents_kept[0]['tests'])}" and "figures with a bound" in said[0]


def make_noisy(folder, operation):
    """Give an operation latencies that differ by a factor of three from round to round."""
    samples = pl.read_parquet(folder / "samples.parquet")
    those = (pl.col("metric") == "latency") & pl.col("cell").str.contains(f"operation={operation},")
    value = pl.when(those).then(pl.col("value") * 3.0 ** pl.col("round")).otherwise("value")
    samples.with_columns(value.alias("value")).write_parquet(folder / "samples.parquet")
    analyse.analyse(folder, find())


def test_what_is_proposed_stands_beside_the_verdicts(campaign):
    assert cli.main(["references", str(campaign)]) == 0
    verdicts = {path: json.loads(path.read_text()) for path in references.folder().rglob("*.json")}
    assert verdicts
    assert cli.main(["references", "propose", str(campaign), "--replace"]) == 0
    for path, document in verdicts.items():
        found = documents.read_json(path, "references")
        assert found["tests"] == document["tests"] and "figures" in found


def test_what_stands_is_not_overwritten_by_a_proposal_unless_asked(campaign, capsys):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    assert cli.main(["references", "propose", str(campaign)]) == 2
    message = capsys.readouterr().err
    assert "--replace" in message and message.count("\n") == 1


def test_a_campaign_that_was_not_analysed_is_told_in_a_line(tmp_path, capsys):
    assert cli.main(["references", "propose", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "verdicts.json" in message and message.count("\n") == 1


def test_a_bound_that_is_no_number_is_refused(campaign):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    path = next(references.folder().rglob("*.json"))
    document = json.loads(path.read_text())
    figures = next(iter(document["figures"].values()))
    next(iter(figures.values()))["upper"] = "much"
    path.write_text(json.dumps(document))
    test = next(iter(document["figures"]))
    with pytest.raises(Exception, match="the most that one launch may show"):
        references.read(path, test)
