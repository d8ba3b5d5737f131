"""Where accesses wait, how long they take, and which accesses the page draws."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from made_up import progress
from markupsafe import escape
from progress_page import rows_of

from onesided import report
from onesided.measure.analyse import analyse
from onesided.measure.summary import MACHINE
from onesided.report import numbers
from onesided.report.material import Baselines, Cell
from onesided.studies import find
from onesided.studies.stfc.progress import latency, waiting

LEVELS = ("single", "multiple")


def test_the_part_in_which_an_access_waits_is_told(page):
    rows = rows_of(page, "progress_where_it_waits")
    assert rows and {row["verdict"] for row in rows} == {"waits"}
    for row in rows:
        shares = {part: float(row[f"{part}_share"]) for part in ("begin", "issue", "complete")}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert shares[progress.WAITING_PART] > 0.99
        assert float(row["slope"]) == pytest.approx(1.0, abs=0.01)


def test_shares_are_of_the_parts_only(material):
    cell = next(c for c in material.cells if c.verdict == "waits")
    only = SimpleNamespace(measure=lambda *at: None)
    assert waiting.shares(only, cell) is None
    assert sum(waiting.shares(material, cell).values()) == pytest.approx(1.0)


def test_a_fence_shows_what_is_left_after_the_targets_return(page):
    rows = rows_of(page, "progress_synchronising")
    assert {row["synchronisation"] for row in rows} == {"fence"}
    waited = [row for row in rows if row["environment"] == "mpich-5.0.2"]
    for row in waited:
        assert 0 < float(row["after_return_s"]) < 5e-6


def test_latencies_stand_by_level_with_their_ratio(page):
    for row in rows_of(page, "progress_latency"):
        single, multiple = float(row["latency_single_s"]), float(row["latency_multiple_s"])
        assert float(row["lock_tax"]) == pytest.approx(multiple / single)
        assert float(row["latency_single_s_low"]) <= single <= float(row["latency_single_s_high"])
        expected = 5e-8 if row["synchronisation"] == "lock_all_flush" else 4e-7
        assert single == pytest.approx(expected, rel=0.1)


def test_the_latencies_say_how_many_launches_met_cores_that_others_used(tmp_path, text):
    folder = tmp_path / "shared"
    one = [progress.labels(target_state="idle"), progress.labels()]
    progress.campaign(folder, progress.ENVIRONMENTS[:1], one, ["default"], ["single"])
    progress.use_cores(folder, [5, 6])
    analyse(folder, find())
    said = report.build(report.load(folder, find()), single_file=True).read_text("utf-8")
    assert "There are 6 latencies, one of each launch. Left out are 0 latencies between" in said
    assert "and 2 on a core that another program" in said
    # if all launches count, nothing is said
    assert "left out that met the cores" not in text


def test_the_targets_own_computing_and_its_visits_are_shown(page):
    rows = rows_of(page, "progress_target")
    for row in rows:
        assert 1.0 < float(row["computes_probing"]) < 1.02
        assert row["visits"]
    assert {row["helper_blocked"] != "" for row in rows} == {True, False}


def baselines_of(material, spread=1.0):
    """Return baselines as from a campaign with the kernel `baseline`.

    Args:
        material: of the campaign.
        spread: the upper end of each interval divided by the lower end.
    """
    template = next(c for c in material.cells if c.environment == "mpich-5.0.2").entry
    wanted = {("atomic_add", 8): 5e-9, ("compare_and_swap", 8): 6e-9, ("copy", 8): 1e-9}
    wanted |= {("copy", 65536): 8e-6}
    cells, rows = [], []
    for (baseline, size), value in wanted.items():
        labels = {"baseline": baseline, "size_bytes": str(size)}
        cell = {**template, "kernel": "baseline", "cell": f"{baseline}-{size}", "labels": labels}
        cells.append(Cell(cell))
        names = ("system", "partition", "environment", "test", "cell", "kernel")
        measured = {"value": value, "low": value, "high": value * spread, "coverage": 0.97}
        rows.append(
            {
                **{name: cell[name] for name in names},
                "metric": "time",
                "statistic": MACHINE,
                **measured,
                "kind": "interval",
                "launches": 6,
            }
        )
    return Baselines.of(cells, pl.DataFrame(rows), find().baselines)


@pytest.mark.parametrize(
    ("operation", "size", "baseline", "value"),
    [
        ("put", 8, "copy", 1e-9),
        ("get", 65536, "copy", 8e-6),
        ("put", 1048576, "copy", 8e-6),
        ("accumulate", 8, "atomic_add", 5e-9),
        ("fetch_and_op", 8, "atomic_add", 5e-9),
        ("compare_and_swap", 8, "compare_and_swap", 6e-9),
        ("accumulate", 1024, None, None),
    ],
)
def test_an_operation_has_the_baseline_of_its_kind_and_size(
    material, operation, size, baseline, value
):
    template = next(c for c in material.cells if c.environment == "mpich-5.0.2").entry
    labels = progress.labels(operation, size_bytes=size)
    with_baseline = SimpleNamespace(baselines=baselines_of(material))
    found = latency.baseline_of(with_baseline, Cell({**template, "labels": labels}))
    assert (found and (found[0], found[1].value)) == (baseline and (baseline, value))


def latencies_with_baseline(material, spread=1.0):
    """Return the rows of the table of latencies, and the page's table."""
    with_baseline = replace(material, baselines=baselines_of(material, spread))
    table = latency.section(with_baseline).parts[0]
    return list(csv.DictReader(io.StringIO(table.csv_text()))), table.html(table.rows)


def test_latencies_are_multiples_of_the_baseline_where_it_was_measured(material, page):
    assert not any("over_baseline" in row for row in rows_of(page, "progress_latency"))
    rows, _ = latencies_with_baseline(material)
    row = next(
        r
        for r in rows
        if (r["environment"], r["operation"], r["flavor"], r["synchronisation"])
        == ("mpich-5.0.2", "fetch_and_op", "allocate", "lock_all_flush")
    )
    assert row["baseline"] == "atomic_add"
    assert float(row["over_baseline"]) == pytest.approx(float(row["latency_single_s"]) / 5e-9)
    other = next(r for r in rows if r["environment"] == "openmpi-5.0.11")
    assert other["over_baseline"] == ""


def test_a_ratio_to_the_baseline_has_an_interval_and_none_is_stated_that_spans_a_factor_of_two(
    material,
):
    (row, *_), html = latencies_with_baseline(material, spread=1.5)
    low, high = (float(row[f"over_baseline_{end}"]) for end in ("low", "high"))
    baseline = float(row["baseline_time_s_low"]), float(row["baseline_time_s_high"])
    assert low == pytest.approx(float(row["latency_single_s_low"]) / baseline[1])
    assert high == pytest.approx(float(row["latency_single_s_high"]) / baseline[0])
    assert row["over_baseline_why"] == ""
    assert numbers.factor(low) in html
    (row, *_), html = latencies_with_baseline(material, spread=2.5)
    assert (row["over_baseline"], row["over_baseline_low"]) == ("", "")
    assert "spans a factor of 2 or more" in row["over_baseline_why"]
    assert str(escape(row["over_baseline_why"])) in html


def test_every_table_has_one_latency_of_a_label(tmp_path):
    """The cell with an idle target times the same access as the cell whose target computes."""
    cells = [
        progress.labels("put", flavor, synchronisation, target_state=state)
        for flavor in ("create", "allocate")
        for synchronisation in ("lock_exclusive", "lock_all_flush", "fence")
        for state in ("idle", "computes")
    ]

    def latencies(at, setting, level):
        base = progress.by_level(at, setting, level)
        return base * (1.4 if at["target_state"] == "idle" else 1.0)

    mpi = replace(progress.ENVIRONMENTS[0], latencies=latencies)
    folder = progress.campaign(tmp_path / "one", [mpi], cells, ["default"])
    # at the highest level nobody measured the access to an idle target, and a second test has all
    # accesses to a target that computes later
    for name in ("cells", "samples"):
        path = folder / f"{name}.parquet"
        idle = pl.col("cell").str.contains("target_state=idle", literal=True)
        table = pl.read_parquet(path)
        table = table.filter(~(idle & pl.col("test").str.contains("multiple")))
        other = table.filter(~idle).with_columns(pl.format("Other{}", "test").alias("test"))
        if name == "samples":
            slower = pl.when(pl.col("metric") == "latency").then(1.2).otherwise(1.0)
            other = other.with_columns(pl.col("value") * slower)
        pl.concat([table, other]).write_parquet(path)
    analyse(folder, find())
    page = report.build(report.load(folder, find()), single_file=True)
    found: dict[tuple[str, ...], set[str]] = {}
    for row in rows_of(page, "progress_latency"):
        for level in LEVELS:
            label = (row["flavor"], row["synchronisation"], level)
            found.setdefault(label, set()).add(row[f"latency_{level}_s"])
        # a ratio of levels is from two cells that differ only in the level
        at = {name: row[name] for name in ("flavor", "synchronisation")}
        expected = [progress.by_level({**cells[1], **at}, "default", n) for n in LEVELS]
        assert float(row["lock_tax"]) == pytest.approx(expected[1] / expected[0], rel=0.1)
    for row in rows_of(page, "progress_use"):
        label = (*row["use"].split(", "), row["thread_level"])
        found[label].add(row["latency_s"])
        found["create", "lock_exclusive", row["thread_level"]].add(row["common_latency_s"])
    for row in rows_of(page, "progress_synchronising"):
        found[row["flavor"], row["synchronisation"], row["thread_level"]].add(row["latency_s"])
    assert len(found) == 12
    assert {label: values for label, values in found.items() if len(values) > 1} == {}
