"""Claims about the six figures that compare two runs of one campaign."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from made_up import counter

from onesided import cli
from onesided.cells import verdicts
from onesided.compare import reproducibility
from onesided.compare.pair import Judged
from onesided.measure.analyse import analyse
from onesided.studies import find


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return two runs that differ only by noise."""
    folders = []
    for seed in (1, 2):
        parent = tmp_path_factory.mktemp(f"run{seed}")
        folder = counter.campaign(parent, seed=seed)
        analyse(folder, find())
        folders.append(folder)
    return folders


@pytest.fixture
def copies(runs, tmp_path):
    """Return the two runs; the second is a copy for changes."""
    changed = tmp_path / "changed"
    changed.mkdir()
    for name in ("verdicts.json", "summary.parquet"):
        (changed / name).write_bytes((runs[1] / name).read_bytes())
    return runs[0], changed


def pairs(*folders):
    return reproducibility.plain_pairs(*(Judged.read(one, find().merits) for one in folders))


def figures(first, second):
    return reproducibility.figures(pairs(first, second))


def shares(first, second):
    return [figure.share for figure in figures(first, second)]


def test_a_run_against_itself_agrees_in_every_cell(runs):
    _, equal, _, inside, overlap, among = shares(runs[0], runs[0])
    assert (equal, inside, overlap, among) == (1.0, 1.0, 1.0, 1.0)


def test_no_helper_and_no_other_setting_is_compared(runs):
    cells = json.loads((runs[0] / "verdicts.json").read_text())["cells"]
    wanted = [
        cell
        for cell in cells
        if cell["setting"] == "default" and not cell["labels"]["case"].startswith("helper")
    ]
    assert 0 < len(wanted) < len(cells)
    assert figures(runs[0], runs[0])[1].total == len(wanted)


def test_a_turned_verdict_is_counted_and_named(copies, capsys):
    first, second = copies
    path = second / "verdicts.json"
    document = json.loads(path.read_text())
    cell = next(
        cell
        for cell in document["cells"]
        if cell["verdict"] == verdicts.WAITS and cell["labels"]["spread_percent"] == "50"
    )
    before = figures(first, second)
    cell["verdict"] = verdicts.UNDECIDED
    path.write_text(json.dumps(document))
    after = figures(first, second)
    assert after[0].count == before[0].count + 1
    assert after[1].count == before[1].count - 1
    said = "\n".join(reproducibility.lines(pairs(first, second)))
    assert f"{cell['cell']}: waits -> undecided" in said
    cli.main(["reproducibility", str(first), str(second)])
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in printed[:6]] == [figure.name for figure in after]


def test_a_shifted_median_leaves_the_interval_and_a_wide_one_is_not_narrow(copies):
    first, second = copies
    summary = pl.read_parquet(second / "summary.parquet")
    value = pl.col("value")
    shifted = summary.with_columns(
        value * 10, low=value, high=value * 30, rerun_low=value * 5, rerun_high=value * 20
    )
    shifted.write_parquet(second / "summary.parquet")
    _, _, narrow, inside, overlap, among = figures(first, second)
    assert inside.count == 0 and not inside.holds
    assert overlap.count > 0
    assert among.count == 0 and among.holds  # nothing is required of it
    assert narrow.count <= narrow.total / 2 and not narrow.holds


def test_cells_that_moved_together_are_said_to_have_moved_by_one_factor(copies, capsys):
    first, second = copies
    (second / "verdicts.json").write_bytes((first / "verdicts.json").read_bytes())
    summary = pl.read_parquet(first / "summary.parquet")
    moved = summary["environment"][0]
    one_in_ten = pl.int_range(pl.len()) % 10 == 0
    factor = pl.when(one_in_ten).then(3.0).when(environment=moved).then(1.034).otherwise(1.0)
    summary.with_columns(pl.col("value") * factor).write_parquet(second / "summary.parquet")
    cli.main(["reproducibility", str(first), str(second)])
    lines = re.findall(r"(\S+) \S+: second over first ([\d.]+)", capsys.readouterr().out)
    assert {name for name, said in lines if float(said) == 1.034} == {moved}
    assert {said for name, said in lines if name != moved} == {"1.000"}


def test_a_median_beside_the_interval_of_the_median_may_still_be_one_of_a_rerun(copies):
    first, second = copies
    summary = pl.read_parquet(second / "summary.parquet")
    between = (pl.col("high") + pl.col("rerun_high")) / 2
    summary.with_columns(value=between).write_parquet(second / "summary.parquet")
    *_, inside, _, among = figures(first, second)
    assert inside.count > among.count


def test_a_cell_of_too_few_launches_for_a_rerun_interval_speaks_for_nothing(copies):
    first, second = copies
    summary = pl.read_parquet(second / "summary.parquet")
    none = pl.lit(None, dtype=pl.Float64)
    summary.with_columns(rerun_low=none, rerun_high=none).write_parquet(second / "summary.parquet")
    _, _, narrow, inside, _, _ = figures(first, second)
    assert (narrow.count, inside.count) == (0, 0)
    assert inside.total > 0


def test_the_exit_status_says_whether_all_hold(copies, capsys):
    first, second = copies
    expected = all(figure.holds for figure in figures(first, second))
    assert cli.main(["reproducibility", str(first), str(second)]) == (0 if expected else 1)
    pl.read_parquet(second / "summary.parquet").with_columns(pl.col("value") * 10).write_parquet(
        second / "summary.parquet"
    )
    assert cli.main(["reproducibility", str(first), str(second)]) == 1
    assert "does not hold" in capsys.readouterr().out


def test_runs_without_a_common_cell_are_refused(copies, capsys):
    first, second = copies
    path = second / "verdicts.json"
    document = json.loads(path.read_text())
    for cell in document["cells"]:
        cell["test"] = "another"
    path.write_text(json.dumps(document))
    assert cli.main(["reproducibility", str(first), str(second)]) == 2
    assert "no cell of the other run" in capsys.readouterr().err
