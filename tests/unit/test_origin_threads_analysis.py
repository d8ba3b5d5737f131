"""Claims about the analysis and the page of the kernel origin_threads."""

from __future__ import annotations

import csv
import json
import shutil

import polars as pl
import pytest

from onesided import report
from onesided.campaign import parquet, tables
from onesided.cells import verdicts
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.report import numbers
from onesided.report.material import load
from onesided.studies import find

LAUNCHES = 6
#: thread level, ranks, arrangement, origins: the tests of the check
RUNS = (
    ("single", 2, "one_window", (1,)),
    ("multiple", 2, "one_window", (1, 2)),
    ("multiple", 2, "window_each", (1, 2)),
    ("single", 2, "processes", (1,)),
    ("single", 3, "processes", (2,)),
)


def time_of(labels, level, origin):
    """Seconds of an operation: a thread at `multiple` is slow, two on one window take turns."""
    alone = 1e-6 if level == "single" else 2e-6
    if labels["origins"] == "1" or labels["arrangement"] == "processes":
        return alone
    if labels["arrangement"] == "window_each":
        return alone * (1 + 0.25 * origin)  # the second is slower, and its rate is its own
    return 2 * alone


def cell_row(number, level, ranks, labels, environment, status):
    missing = dict.fromkeys(tables.CELL_COLUMNS)
    return missing | {
        "campaign": "made",
        "system": "laptop",
        "partition": "node",
        "environment": environment,
        "round": number,
        "test": f"Origin_{level}_{ranks}_{labels['arrangement']}",
        "kernel": "origin_threads",
        "thread_level": level,
        "setting": "default",
        "ranks": ranks,
        "placement": "unbound",
        "launch_model": "native",
        "cell": ",".join(f"{axis}={value}" for axis, value in labels.items()),
        "labels": json.dumps(labels),
        "status": status,
        "detail": "rank 1: 6" if status == "crash" else None,
        "oversubscribed": labels["origins"] != "1",
        "clock_global": True,
    }


def sample_rows(row, labels, level):
    place = {name: row[name] for name in ("system", "partition", "environment", "test", "cell")}
    for origin in range(int(labels["origins"])):
        for index in range(3):
            stall = 10.0 if index == 2 else 1.0  # one sample in three loses its core
            yield place | {
                "campaign": "made",
                "round": row["round"],
                "metric": "operation_time",
                "unit": "s",
                "rank": 1 + (origin if labels["arrangement"] == "processes" else 0),
                "burst": 100,
                "index": index,
                "value": stall * time_of(labels, level, origin),
            }
        yield place | {
            "campaign": "made",
            "round": row["round"],
            "metric": "steal",
            "unit": "s",
            "rank": 0,
            "burst": 1,
            "index": 0,
            "value": 77.0,
        }


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Two MPIs; the second crashes with two threads on one window."""
    folder = tmp_path_factory.mktemp("origin_threads")
    cells, samples = [], []
    for environment in ("first", "second"):
        for number in range(1, LAUNCHES + 1):
            for level, ranks, arrangement, origins in RUNS:
                for count in origins:
                    for operation in ("put", "get"):
                        labels = {
                            "operation": operation,
                            "flavor": "allocate",
                            "arrangement": arrangement,
                            "origins": str(count),
                        }
                        crashed = (environment, arrangement, count) == ("second", "one_window", 2)
                        status = "crash" if crashed else "ok"
                        row = cell_row(number, level, ranks, labels, environment, status)
                        cells.append(row)
                        samples += [] if crashed else sample_rows(row, labels, level)
    for name, rows, columns in (
        ("cells", cells, tables.CELL_COLUMNS),
        ("samples", samples, tables.SAMPLE_COLUMNS),
        ("launches", [], tables.LAUNCH_COLUMNS),
    ):
        pl.DataFrame(rows, schema=dict(columns)).write_parquet(folder / f"{name}.parquet")
    record = {"schema": tables.RECORD_SCHEMA, "name": "made", "rounds": LAUNCHES}
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    analyse(folder, find())
    return folder


@pytest.fixture(scope="module")
def summary(campaign):
    found = parquet.read_table(campaign / "summary.parquet", tables.SUMMARY_COLUMNS)

    def value(metric, level, arrangement, origins, column="value", environment="first"):
        (row,) = found.filter(
            (pl.col("metric") == metric)
            & (pl.col("thread_level") == level)
            & (pl.col("environment") == environment)
            & pl.col("cell").str.starts_with("operation=put")
            & pl.col("cell").str.ends_with(f"arrangement={arrangement},origins={origins}")
        ).to_dicts()
        return row[column]

    return value


def test_every_cell_is_a_reference_or_failed(campaign):
    cells = read_verdicts(campaign / "verdicts.json")
    assert len(cells) == 2 * 2 * 7
    words = {
        (cell["environment"], cell["cell"].partition("arrangement=")[2]): cell["verdict"]
        for cell in cells
    }
    failed = {place for place, word in words.items() if word == verdicts.CRASH}
    assert failed == {("second", "one_window,origins=2")}
    assert set(words.values()) == {verdicts.CRASH, verdicts.REFERENCE}
    assert {c["detail"] for c in cells if c["verdict"] == verdicts.REFERENCE} == {"nobody computes"}


def test_the_time_is_the_median_of_the_origins_mean(summary):
    assert summary("time", "single", "one_window", 1) == pytest.approx(1e-6)
    assert summary("time", "multiple", "one_window", 2) == pytest.approx(4e-6)
    assert summary("time", "multiple", "window_each", 2) == pytest.approx(2e-6 * 1.125)
    assert summary("time", "multiple", "window_each", 2, "unit") == "s"
    assert summary("time", "multiple", "window_each", 2, "samples") == LAUNCHES * 2 * 3


def test_the_rate_lasts_until_the_last_origin_is_at_its_end(summary):
    assert summary("rate", "multiple", "one_window", 1) == pytest.approx(0.5e6)
    assert summary("rate", "multiple", "one_window", 2) == pytest.approx(2 / 4e-6)
    assert summary("rate", "multiple", "window_each", 2) == pytest.approx(2 / 2.5e-6)
    assert summary("rate", "single", "processes", 2) == pytest.approx(2e6)


def test_the_ratio_is_to_one_origin_of_the_same_arrangement_and_level(summary):
    assert summary("scaling", "multiple", "one_window", 2) == pytest.approx(1.0)
    assert summary("scaling", "multiple", "window_each", 2) == pytest.approx(1.6)
    # from another test, because another process is another rank
    assert summary("scaling", "single", "processes", 2) == pytest.approx(2.0)
    assert summary("scaling", "single", "one_window", 1) == pytest.approx(1.0)


def test_the_page_has_a_column_an_arrangement_and_a_row_an_operation(campaign):
    text = report.build(report.load(campaign, find()), single_file=True).read_text("utf-8")
    assert 'data-table="origin_threads"' in text
    for title in ("2 threads, one window", "2 threads, a window each", "2 processes"):
        assert text.count(f">{title}</th>") == 2  # in the answer and in the table
    assert "threads at level multiple; processes at level single" in text
    with (campaign / "report" / "origin_threads.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["environment"], row["operation"]) for row in rows] == [
        (environment, operation)
        for environment in ("first", "second")
        for operation in ("put", "get")
    ]
    put = rows[0]
    assert float(put["one_window_1_per_s"]) == pytest.approx(0.5e6)  # at multiple, not at single
    assert float(put["scaling_window_each_2"]) == pytest.approx(1.6)
    assert float(put["processes_2_per_s"]) == pytest.approx(2e6)
    assert rows[2]["one_window_2_per_s"] == rows[2]["scaling_one_window_2"] == verdicts.CRASH
    assert float(rows[2]["processes_2_per_s"]) == pytest.approx(2e6)
    assert "1.60\u00d7, over-subscribed" in text


def test_the_terminal_has_a_line_an_mpi(campaign):
    said = report.terminal_summary(report.load(campaign, find()))
    assert "first: 2 threads, one window: 1.00\u00d7; 2 threads, a window each: 1.60\u00d7" in said
    assert "second: 2 threads, one window: crash;" in said


@pytest.mark.parametrize(
    ("value", "text"), [(83.0, "83.0\u202f/s"), (1234.0, "1.23\u202fk/s"), (2.5e7, "25.0\u202fM/s")]
)
def test_rates_have_three_digits_and_a_fitting_unit(value, text):
    assert numbers.per_second(value) == text


def test_the_answer_is_of_each_partition(campaign, tmp_path):
    """Across nodes an operation takes a hundred times as long, and two origins lose nothing."""
    folder = tmp_path / "two"
    shutil.copytree(campaign, folder, ignore=shutil.ignore_patterns("report"))
    for name in ("cells", "samples"):
        table = pl.read_parquet(folder / f"{name}.parquet")
        other = table.with_columns(pl.lit("network").alias("partition"))
        if name == "samples":
            timed = pl.col("metric") == "operation_time"
            other = other.with_columns(pl.when(timed).then(1e-4).otherwise("value").alias("value"))
        pl.concat([table, other]).write_parquet(folder / f"{name}.parquet")
    analyse(folder, find())
    report.build(report.load(folder, find()), single_file=True)
    said = report.terminal_summary(report.load(folder, find()))
    assert "first (node): 2 threads, one window: 1.00\u00d7" in said
    assert "first (network): 2 threads, one window: 2.00\u00d7" in said
    (section,) = find()["origin_threads"].page.sections(load(folder, find()).materials()[0])
    (table,) = section.parts
    shown = [column.key for column in table.columns if column.header or not column.measure]
    labels = [tuple(row[key] for key in ("environment", *shown)) for row in table.rows]
    assert len(set(labels)) == len(labels) == 8
    answer = (folder / "report" / "origin_threads_answer.csv").read_text("utf-8")
    assert {line.split(",")[0] for line in answer.splitlines()[1:]} == {
        *("first (node)", "first (network)", "second (node)", "second (network)")
    }
