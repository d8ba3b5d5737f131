"""Claims about the report's files, made without a browser."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import polars as pl
import pytest
from made_up import counter
from unpacked import whole

from onesided import report
from onesided.campaign.tables import PLACE
from onesided.measure.analyse import analyse
from onesided.report import numbers, provenance
from onesided.report.build import _joined
from onesided.report.material import load
from onesided.report.parts import Section, Table
from onesided.studies import find
from onesided.studies.stfc.shared_counter.cells import TABLE1
from onesided.studies.stfc.shared_counter.tables import latency
from onesided.system.errors import InputError

#: A file of an older report.
STALE = Path("gone.csv")


class _Tables(html.parser.HTMLParser):
    """The numbers of every table of the page, by the table's name."""

    def __init__(self):
        super().__init__()
        self.numbers: dict[str, list[str]] = {}
        self.scripts = 0
        self._name = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "data-table" in given:
            self._name = given["data-table"]
            self.numbers[self._name] = []
        if tag == "data":
            self.numbers[self._name].append(given["value"])
        self.scripts += tag == "script"


@pytest.fixture(scope="module")
def parsed(html):
    parser = _Tables()
    parser.feed(whole(html))
    return parser


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_every_table_has_a_csv_with_the_same_numbers(parsed, page_path):
    compared = 0
    for name, shown in parsed.numbers.items():
        held = [
            value for row in rows_of(page_path.parent / f"{name}.csv") for value in row.values()
        ]
        remaining = iter(held)
        for value in shown:
            assert any(value == other for other in remaining), f"{name}: {value} is not in the CSV"
            compared += 1
    assert compared > 500


def test_one_archive_has_every_file_beside_the_pages(html, page_path):
    assert 'href="data.zip"' in html
    assert "data:text/csv" not in html
    with zipfile.ZipFile(page_path.parent / "data.zip") as archive:
        names = set(archive.namelist())
        for name in names:
            assert archive.read(name) == (page_path.parent / name).read_bytes()
    assert names == {
        path.relative_to(page_path.parent).as_posix()
        for path in page_path.parent.rglob("*")
        if path.suffix in (".csv", ".svg", ".sh", ".txt", ".md", ".c")
    }


def test_the_commands_of_the_footer_work_as_they_stand(pages, onesided, tmp_path):
    written = (pages / "index.html").read_text("utf-8")
    (name,) = re.findall(r"onesided · campaign (\S+)", written)
    for results in (name, "OTHER"):
        shutil.copytree(pages.parent, tmp_path / "results" / results)
    commands = re.findall(r"<code>onesided (\w+ [^<]*--page[^<]*)</code>", written)
    variables = {**os.environ, "ONESIDED_RESULTS": str(tmp_path / "results")}
    assert len(commands) == 2
    for command in commands:
        onesided(*command.split(), cwd=tmp_path, env=variables)
    assert {page.parent.name for page in tmp_path.glob("*/index.html")} == {"changed", "versions"}


def test_the_published_table_is_shown_as_printed(html):
    published = TABLE1.rows
    assert len(published) == 11
    table = html[html.index('data-table="shared_counter_table1_published"') :]
    table = table[: table.index("</table>")]
    for row in published:
        for name in ("work_s", "case1_s", "case2_s", "case3_s"):
            assert row[name] in table
    assert table.count(">N/A<") == 7


def test_degradation_of_the_published_table_is_what_its_text_says():
    factors = [1 + float(row["case1_s"]) / float(row["work_s"]) for row in TABLE1.rows]
    assert min(factor for factor in factors if factor > 1.1) == pytest.approx(1.55, abs=0.005)
    assert max(factors) == pytest.approx(5.545, abs=0.005)


def test_cells_over_subscribed_are_a_share_of_cells_and_not_of_launches():
    places = [dict.fromkeys(PLACE, name) | {"environment": "one"} for name in ("a", "b", "c")]
    launches = [6, 6, 1]
    rows = [
        {**place, "oversubscribed": place["cell"] == "a" and number == 0}
        for place, many in zip(places, launches, strict=True)
        for number in range(many)
    ]
    cells = pl.DataFrame([*rows, {**places[2], "cell": "d", "oversubscribed": None}])
    for of_a_cell, count in ((pl.Expr.any, 1), (pl.Expr.all, 0)):
        found = provenance._share_of(cells, "one", "oversubscribed", "crowded", of_a_cell)
        assert found == {"crowded": count / 3, "crowded_shown": f"{count} of 3"}


def test_the_page_gives_the_published_degradation_as_table_1_has_it(pages, html):
    assert "the factors that clearly exceed 1 are from 1.55 to 5.55" in html


def test_published_and_measured_never_share_a_table_or_a_figure(page_path):
    for path in page_path.parent.glob("*.csv"):
        text = path.read_text("utf-8")
        assert ("BlueGene" in text) != ("mpich-5.0.2" in text) or (
            "BlueGene" not in text and "mpich-5.0.2" not in text
        )


def test_every_declared_cell_is_in_the_grid(page_path, campaign):
    declared = len(json.loads((campaign / "verdicts.json").read_text())["cells"])
    assert len(rows_of(page_path.parent / "grid_shared_counter.csv")) == declared


def test_each_environment_tells_the_transport_of_its_windows_by_flavor(page_path):
    told = {
        row["environment"]: row["transport"]
        for row in rows_of(page_path.parent / "environments.csv")
    }
    assert told["openmpi-5.0.11"] == (
        "allocate: osc sm, netmod ob1, provider sm+tcp, shared memory; "
        "create: osc rdma, netmod ob1, provider sm+tcp, shared memory"
    )
    assert told["mpich-5.0.2"] == "allocate, create: netmod shm, shared memory"
    assert told[counter.HOSTILE] == ""


def test_failures_come_first_in_their_environment(page_path):
    words = [
        row["verdict"]
        for row in rows_of(page_path.parent / "grid_shared_counter.csv")
        if row["environment"] == "impi-2021.18.1"
    ]
    assert words[0] == "crash"
    failed = [word in ("crash", "helper returned") for word in words]
    assert failed == sorted(failed, reverse=True)


def test_a_hostile_name_is_text(html, parsed):
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html
    assert "<b>not</b>" not in html
    # Vega, the page's own script, and the specification of each of three figures
    assert parsed.scripts == 5
    packed = re.findall(r'<script type="text/plain"[^>]*>(.*?)</script>', html, flags=re.S)
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]*", one) for one in packed)


def test_only_a_page_with_a_figure_carries_the_chart_library(pages):
    carries = {path.name: 'id="vega-library"' in path.read_text() for path in pages.glob("*.html")}
    assert carries == {"index.html": False, "claims.html": False, "stfc.html": True}


def test_it_says_how_to_compare_and_where_the_program_is(campaign, tmp_path):
    folder = tmp_path / "campaign"
    shutil.copytree(campaign, folder, ignore=shutil.ignore_patterns("report"))
    record = json.loads((folder / "campaign.json").read_text())
    address = "https://git.example.org/group/onesided"
    (folder / "campaign.json").write_text(json.dumps({**record, "repository": address}))
    text = report.build(report.load(folder, find())).read_text("utf-8")
    assert f'<a href="{address}">' in text
    assert "onesided compare OTHER " in text and "onesided versions OTHER " in text


def test_sections_of_one_name_are_one_where_the_first_of_them_is():
    table = Table("t", "", [], [])
    named = [Section("a", "A", "", (table,)), Section("b", "B", "")]
    joined = _joined([*named, Section("a", "other", "", (table, table))])
    assert [(one.identifier, one.title, len(one.parts)) for one in joined] == [
        ("a", "A", 3),
        ("b", "B", 0),
    ]


def test_the_page_needs_nothing_from_elsewhere(html):
    without_library = re.sub(r'<script type="text/plain".*?</script>', "", html, flags=re.S)
    # no browser fetches a link that a reader may follow
    to_follow = re.sub(r'<a href="https://github.com/[^"]*/issues/[0-9]+">', "", without_library)
    for found in re.findall(r'(?:src|href)="([^"]*)"', to_follow):
        assert not found.startswith(("http:", "https:", "//"))
    assert "@import" not in without_library


def test_figures_are_whole_svg_files(page_path):
    files = sorted(page_path.parent.glob("*.svg"))
    assert len(files) == 3
    for path in files:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_one_drawing_does_not_refer_to_another(html):
    drawings = re.findall(r"<svg xmlns.*?</svg>", html, flags=re.S)
    assert len(drawings) == 6
    names = [re.findall(r'\bid="([^"]*)"', drawing) for drawing in drawings]
    for drawing, own in zip(drawings, names, strict=True):
        assert set(re.findall(r"url\(#([^)]*)\)", drawing)) <= set(own)
    every = [name for own in names for name in own]
    assert len(every) == len(set(every))


def test_the_compute_length_stands_at_every_bar(page_path):
    svg = (page_path.parent / "figure1_published.svg").read_text("utf-8")
    for row in TABLE1.rows:
        assert f"{row['work_s']}{numbers.THIN_SPACE}s" in svg


def test_both_fixed_and_random_compute_are_shown(page_path):
    steps = {row["steps"] for row in rows_of(page_path.parent / "figure1_measured.csv")}
    assert len(steps) == 2 and "fixed compute" in steps


def test_latencies_of_two_levels_stand_in_two_columns(page_path):
    (first, *_) = rows_of(page_path.parent / "latency.csv")
    assert {"latency_single_s", "latency_multiple_s"} <= set(first)


def test_latencies_of_two_settings_say_of_which_they_are(campaign, tmp_path):
    folder = tmp_path / "settings"
    shutil.copytree(campaign, folder, ignore=shutil.ignore_patterns("report"))
    for name in ("cells", "samples"):
        table = pl.read_parquet(folder / f"{name}.parquet")
        other = table.with_columns(pl.format("Tcp{}", "test").alias("test"))
        if name == "cells":
            other = other.with_columns(pl.lit("tcp").alias("setting"))
        pl.concat([table, other]).write_parquet(folder / f"{name}.parquet")
    analyse(folder, find())
    (material,) = load(folder, find()).materials()
    (table,) = latency(material).parts
    shown = [column.key for column in table.columns if not column.measure]
    labels = [tuple(row[key] for key in ("environment", "flavor", *shown)) for row in table.rows]
    assert len(set(labels)) == len(labels)
    assert {row["where"].split(", ")[1] for row in table.rows} == {"default", "tcp"}


@pytest.fixture(scope="module")
def built_again(page_path, campaign, drawn_once):
    """Return the files of a report, and the files of a report that replaced an older one."""
    drawn_once.clear()

    def content():
        files = [path for path in page_path.parent.rglob("*") if path.is_file()]
        return {path.relative_to(page_path.parent): path.read_bytes() for path in files}

    before = content()
    (page_path.parent / STALE).write_text("old")
    report.build(report.load(campaign, find()), single_file=True)
    return before, content()


def test_the_same_campaign_gives_the_same_bytes(built_again):
    before, after = built_again
    assert {path: content for path, content in after.items() if path != STALE} == before


def test_a_table_of_an_earlier_report_does_not_stay(built_again):
    _, after = built_again
    assert STALE not in after


def test_the_terminal_tells_path_time_and_holes(page_path, campaign):
    said = report.terminal_summary(report.load(campaign, find()))
    assert str(page_path) in said
    assert "inside launches 1 min 52 s (73 %)" in said
    assert "336 declared, 84 not measured (84 unavailable), 16 failed" in said
    assert "With an atomic operation" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("name", ["summary.parquet", "verdicts.json", "campaign.json"])
def test_without_its_input_there_is_one_clear_line_and_no_page(tmp_path, name):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    analyse(folder, find())
    (folder / name).unlink()
    with pytest.raises(InputError, match=re.escape(name)):
        report.build(report.load(folder, find()), single_file=True)
    assert not (folder / "report").exists()


def test_verdicts_of_another_version_are_refused(tmp_path):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    analyse(folder, find())
    (folder / "verdicts.json").write_text('{"schema": "onesided/verdicts/2", "cells": []}')
    with pytest.raises(InputError, match="verdicts/3, which `onesided analyse` writes"):
        report.build(report.load(folder, find()), single_file=True)


def test_few_launches_are_called_a_range(tmp_path):
    folder = counter.campaign(tmp_path, rounds=2, algorithms=("fetch_and_op",))
    analyse(folder, find())
    text = report.build(report.load(folder, find()), single_file=True).read_text("utf-8")
    assert "range of 2 launches" in text
    assert "96.9\u202f% interval of" not in text


def test_nothing_measured_at_all_still_makes_a_report(tmp_path):
    environments = [counter.ENVIRONMENTS[3]]
    folder = counter.campaign(tmp_path, environments, rounds=1)
    analyse(folder, find())
    text = report.build(report.load(folder, find()), single_file=True).read_text("utf-8")
    assert "unavailable" in text
    assert "84 not measured" in report.terminal_summary(report.load(folder, find()))


def test_six_algorithms_and_two_compute_lengths(tmp_path):
    algorithms = ("mpi2_array", "mpi2_tree", "fetch_and_op", "compare_and_swap")
    folder = counter.campaign(tmp_path, rounds=1, algorithms=algorithms, compute_ms=(10, 240))
    pl.read_parquet(folder / "cells.parquet")
    analyse(folder, find())
    report.build(report.load(folder, find()), single_file=True)
    bars = rows_of(folder / "report" / "figure1_measured.csv")
    shown = {float(row["length_s"]) for row in bars if row["value"][:1].isdigit()}
    assert shown and not shown & {0.01, 0.24}  # the cores of the launch, not the requested cores
    rows = rows_of(folder / "report" / "table1_measured_all.csv")
    assert {row["compute_s"] for row in rows} == {"0.01", "0.24"}


def test_each_study_has_a_page_of_its_own_and_all_lead_to_all(pages, html):
    texts = {path.name: path.read_text("utf-8") for path in pages.glob("*.html")}
    assert set(texts) == {"index.html", "claims.html", "stfc.html"}
    for name, text in texts.items():
        links = re.findall(r'<a href="(\w+\.html)"( aria-current="page")?>', text)
        assert {link for link, _ in links} == set(texts)
        assert {link for link, here in links if here} == {name}
    assert 'data-table="grid_shared_counter"' in texts["stfc.html"]
    assert 'data-table="grid_shared_counter"' not in texts["index.html"]
    # the answer is there only once
    assert 'data-table="shared_counter_answer"' in texts["index.html"]
    assert 'data-table="shared_counter_answer"' not in texts["stfc.html"]
    # the answers have no figure, so the page needs no library to draw
    assert len(texts["index.html"]) < 200_000 < len(texts["stfc.html"])
    sections = set(re.findall(r'<section id="([\w-]+)"', html))
    shown = [set(re.findall(r'<section id="([\w-]+)"', text)) for text in texts.values()]
    assert set.union(*shown) - {"cells"} == sections


def test_a_single_file_leaves_no_page_beside_it_and_the_same_tables(pages, page_path):
    assert [path.name for path in page_path.parent.glob("*.html")] == ["index.html"]
    for pattern in ("*.csv", "*.svg"):
        of_pages, of_one = (
            {p.name: p.read_bytes() for p in folder.glob(pattern)}
            for folder in (pages, page_path.parent)
        )
        assert of_pages == of_one
