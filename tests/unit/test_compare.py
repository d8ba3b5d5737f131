"""Claims about `onesided compare`: which cells are the same, what changed, what is printed."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import replace

import polars as pl
import pytest
from made_up import counter

from onesided import cli
from onesided.compare import campaigns, differences
from onesided.measure.analyse import analyse
from onesided.studies import find

RUNNING = counter.ENVIRONMENTS[:3]


def made(folder, environments=RUNNING, **options):
    analyse(counter.campaign(folder, environments, levels=("single",), **options), find())
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return two campaigns that differ only by noise."""
    parent = tmp_path_factory.mktemp("runs")
    return made(parent / "first", seed=1), made(parent / "second", seed=2)


@pytest.fixture
def copy(runs, tmp_path):
    """Return the first campaign, and a copy of the second for changes."""
    shutil.copytree(runs[1], tmp_path / "second")
    return runs[0], tmp_path / "second"


def turn_verdict(folder, before, after, **changes):
    """Change the last plain cell with a verdict; return the cell."""
    path = folder / "verdicts.json"
    document = json.loads(path.read_text())
    cell = next(cell for cell in reversed(document["cells"]) if cell["verdict"] == before)
    cell |= {"verdict": after, **changes}
    path.write_text(json.dumps(document))
    return cell


def rename(folder, columns, *files):
    """Rename an environment, system or partition in a campaign's files."""
    for name in files or ("cells", "samples", "launches", "values", "summary"):
        path = folder / f"{name}.parquet"
        table = pl.read_parquet(path)
        table.with_columns(
            pl.col(column).replace(old, new)
            for column, (old, new) in columns.items()
            if column in table.columns
        ).write_parquet(path)
    path = folder / "verdicts.json"
    document = json.loads(path.read_text())
    for cell in document["cells"]:
        for column, (old, new) in columns.items():
            cell[column] = new if cell[column] == old else cell[column]
    path.write_text(json.dumps(document))


def kept(folder, name):
    return pl.read_parquet(folder / "cells.parquet").filter(pl.col("environment") == name).height


def test_nothing_changed_shows_nothing(runs):
    found = campaigns.compare(*runs, find())
    assert [cell.change for cell in found.pairs if cell.change not in (None, "open")] == []
    assert [whole.difference.word for whole in found.overall] == ["~"] * len(RUNNING)
    assert found.differing == [] and found.missing == {}


def test_a_campaign_against_itself_has_ratios_of_one(runs):
    found = campaigns.compare(runs[0], runs[0], find())
    assert {whole.difference.ratio for whole in found.overall} == {1.0}
    assert all(cell.change is None for cell in found.pairs)
    assert any(cell.difference for cell in found.pairs)


def test_every_cell_of_both_is_there_also_of_other_settings_and_with_a_helper(runs):
    cells = json.loads((runs[0] / "verdicts.json").read_text())["cells"]
    assert len(campaigns.compare(*runs, find()).pairs) == len(cells)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("independent", "waits", "worse"),
        ("waits", "delayed", "better"),
        ("waits", "wrong data", "worse"),
        ("reference", "crash", "worse"),
        ("waits", "undecided", "open"),
        ("waits", "not run", "open"),
    ],
)
def test_a_changed_verdict_is_first_and_is_worse_better_or_open(copy, before, after, kind):
    cell = turn_verdict(copy[1], before, after)
    found = campaigns.compare(*copy, find())
    changed = [one for one in found.changed(kind) if one.first["cell"] == cell["cell"]]
    assert len(changed) == 1
    if kind != "open":
        assert found.pairs[0] is changed[0]
        assert f"  {kind}: {cell['environment']} default" in "\n".join(campaigns.lines(found))


def test_with_fewer_cores_than_threads_only_failures_turn_for_the_worse(copy):
    turn_verdict(copy[1], "independent", "waits", oversubscribed=True)
    assert campaigns.compare(*copy, find()).changed("worse") == []
    turn_verdict(copy[1], "waits", "hang", oversubscribed=True)
    assert len(campaigns.compare(*copy, find()).changed("worse")) == 1


def test_a_cell_with_fewer_cores_than_threads_is_compared_by_its_verdict_alone(copy):
    timed = {
        one.first["environment"] for one in campaigns.compare(*copy, find()).pairs if one.difference
    }
    assert "mpich-5.0.2" in timed
    path = copy[1] / "verdicts.json"
    document = json.loads(path.read_text())
    for cell in document["cells"]:
        cell["oversubscribed"] |= cell["environment"] == "mpich-5.0.2"
    path.write_text(json.dumps(document))
    found = campaigns.compare(*copy, find())
    assert {one.first["environment"] for one in found.pairs if one.difference} == (
        timed - {"mpich-5.0.2"}
    )
    assert "mpich-5.0.2" in {one.first["environment"] for one in found.pairs}


def test_an_environment_that_is_slower_is_called_so_and_no_other(tmp_path, runs):
    def slow(labels):
        behaviour = RUNNING[1].behaviour(labels)
        return lambda remaining, source: 1.5 * behaviour(remaining, source)

    slower = replace(RUNNING[1], behaviour=slow)
    second = made(tmp_path / "slower", (RUNNING[0], slower, RUNNING[2]), seed=3)
    found = campaigns.compare(runs[0], second, find())
    words = {whole.environment: whole.difference.word for whole in found.overall}
    assert words == {"mpich-5.0.2": "~", "openmpi-5.0.11": "slower", "impi-2021.18.1": "~"}
    back = campaigns.compare(second, runs[0], find())
    assert [w.difference.word for w in back.overall] == ["~", "faster", "~"]


def test_one_launch_has_ratios_without_interval_and_nothing_is_tested(tmp_path, runs):
    found = campaigns.compare(runs[0], made(tmp_path / "one", rounds=1), find())
    assert {w.difference.word for w in found.overall} == {differences.NOT_TESTED}
    assert all(whole.difference.low is None for whole in found.overall)
    assert found.tested == []


def test_what_is_not_called_different_says_what_would_have_been(runs):
    found = campaigns.compare(*runs, find())
    printed = "\n".join(campaigns.lines(found))
    for whole in found.overall:
        assert whole.difference.detectable > differences.LEAST_FACTOR
        assert f"~, found from {whole.difference.detectable:.3g} on" in printed
    assert found.detectable is None and "would be found" not in printed


def test_ten_rounds_say_in_how_many_cells_ten_percent_would_be_found(tmp_path):
    first, second = (made(tmp_path / name, rounds=10, seed=seed) for seed, name in enumerate("ab"))
    found = campaigns.compare(first, second, find())
    tested = [cell.difference.detectable for cell in found.tested]
    assert min(tested) < found.detectable < max(tested)
    sensitive = sum(factor <= differences.ASKED_FACTOR for factor in tested)
    said = f"a factor of 1.1 would be found: {sensitive} of {len(tested)} tested; half of them from"
    assert said in "\n".join(campaigns.lines(found))


def test_another_version_of_a_family_is_compared_with_the_one_it_followed(copy):
    rename(copy[1], {"environment": ("mpich-5.0.2", "mpich-5.0.3")})
    found = campaigns.compare(*copy, find())
    assert "mpich-5.0.2 → mpich-5.0.3" in {whole.name for whole in found.overall}
    assert found.missing == {}


def test_the_same_mpi_in_a_container_is_not_taken_for_another_version_of_it(copy):
    rename(copy[1], {"environment": ("mpich-5.0.2", "mpich-5.0.2-hybrid")})
    path = copy[1] / "cells.parquet"
    inside = pl.col("environment") == "mpich-5.0.2-hybrid"
    model = pl.when(inside).then(pl.lit("hybrid")).otherwise(pl.col("launch_model"))
    pl.read_parquet(path).with_columns(launch_model=model).write_parquet(path)
    found = campaigns.compare(*copy, find())
    assert {whole.name for whole in found.overall} == {one.name for one in RUNNING[1:]}
    assert set(found.missing) == {"mpich-5.0.2", "mpich-5.0.2-hybrid"}
    named = campaigns.compare(*copy, find(), {"mpich-5.0.2": "mpich-5.0.2-hybrid"})
    assert "mpich-5.0.2 → mpich-5.0.2-hybrid" in {whole.name for whole in named.overall}


def test_another_machine_is_compared_where_each_has_one_partition(copy):
    rename(copy[1], {"system": ("laptop", "cluster"), "partition": ("local", "network")})
    found = campaigns.compare(*copy, find())
    assert found.missing == {} and len(found.overall) == len(RUNNING)


@pytest.mark.parametrize("old", ["mpich-5.0.2", "impi-2021.18.1"])
def test_what_is_the_same_may_be_said_and_then_holds_for_nothing_else(runs, old):
    new = next(name for name in ("mpich-5.0.2", "impi-2021.18.1") if name != old)
    found = campaigns.compare(*runs, find(), {old: new})
    assert {whole.name for whole in found.overall} == {f"{old} → {new}", "openmpi-5.0.11"}
    # the one is now only in the first campaign, the other only in the second
    cells = kept(runs[0], new) // 6
    assert found.missing == {new: (cells, 0), old: (0, cells)}


def test_cells_of_only_one_campaign_are_counted_not_forgotten(tmp_path, runs):
    second = made(tmp_path / "fewer", RUNNING[:2], seed=4)
    found = campaigns.compare(runs[0], second, find())
    cells = kept(runs[0], "impi-2021.18.1") // 6
    assert found.missing == {"impi-2021.18.1": (cells, 0)}
    assert f"impi-2021.18.1: {cells} cells only in the first" in "\n".join(campaigns.lines(found))


def test_a_cell_that_failed_in_either_campaign_has_no_ratio(copy):
    cell = turn_verdict(copy[1], "waits", "wrong data")
    found = campaigns.compare(*copy, find())
    assert found.pairs[0].first["cell"] == cell["cell"]
    assert found.pairs[0].difference is None


def test_the_terminal_says_verdicts_environments_cells_in_that_order(copy, capsys):
    turn_verdict(copy[1], "independent", "waits")
    assert cli.main(["compare", *map(str, copy)]) == 0
    printed = capsys.readouterr().out
    parts = [
        "verdicts that changed: 1 worse",
        "independent -> waits",
        "environments,",
        "cells that",
    ]
    places = [printed.index(part) for part in parts]
    assert places == sorted(places)


def test_the_csv_has_every_cell_and_its_ratio(copy, capsys):
    turn_verdict(copy[1], "independent", "waits")
    assert cli.main(["compare", *map(str, copy), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == len(campaigns.compare(*copy, find()).pairs)
    assert (rows[0]["turn"], rows[0]["first"], rows[0]["second"]) == (
        "worse",
        "independent",
        "waits",
    )
    timed = [row for row in rows if row["ratio"]]
    assert timed
    for row in timed:
        assert float(row["ratio_low"]) <= float(row["ratio"]) <= float(row["ratio_high"])
        assert row["difference"] == differences.NOT_TESTED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--same", "mpich"], "expected OLD=NEW"),
        (["--same", "mpich-9=mpich-5.0.2"], "--same: found mpich-9; expected one of"),
        (["--same", "mpich-5.0.2=mpich-9"], "--same: found mpich-9; expected one of"),
        (["--same", "mpich-5.0.2=impi-2021.18.1", "--same", "mpich-5.0.2=mpich-5.0.2"], "once"),
    ],
)
def test_a_wrong_name_gets_one_line(runs, capsys, arguments, words):
    assert cli.main(["compare", *map(str, runs), *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_what_is_no_campaign_gets_one_line(runs, tmp_path, capsys):
    assert cli.main(["compare", str(runs[0]), str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    shutil.copytree(runs[1], tmp_path / "cut")
    (tmp_path / "cut" / "samples.parquet").write_bytes(b"PAR1")
    assert cli.main(["compare", str(runs[0]), str(tmp_path / "cut")]) == 2
    assert "samples.parquet" in capsys.readouterr().err
