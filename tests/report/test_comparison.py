"""Claims about the page that `onesided compare --page` writes."""

from __future__ import annotations

import csv
import html
import json
import re

import pytest
from made_up import counter
from unpacked import whole

from onesided import cli
from onesided.measure.analyse import analyse
from onesided.studies import find


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the folder of a comparison with one changed verdict and one hostile name."""
    parent = tmp_path_factory.mktemp("compared")
    first, second = parent / "first", parent / "second"
    for folder, seed in ((first, 1), (second, 2)):
        analyse(counter.campaign(folder, seed=seed, levels=("single",)), find())
    path = second / "verdicts.json"
    document = json.loads(path.read_text())
    turned = next(cell for cell in document["cells"] if cell["verdict"] == "independent")
    turned["verdict"] = "waits"
    path.write_text(json.dumps(document))
    folder = parent / "page"
    folder.mkdir()
    (folder / "compare_of_before.csv").write_text("stale")
    (folder / "mine.csv").write_text("not ours")
    assert cli.main(["compare", str(first), str(second), "--page", str(folder)]) == 0
    return folder


def rows(folder, name):
    with (folder / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_verdict_that_turned_is_in_the_first_sentence_and_the_first_table(page):
    text = (page / "index.html").read_text("utf-8")
    assert "1\u202fverdict" in text or "1 verdict worse" in text
    tables = re.findall(r'data-table="([a-z_]+)"', text)
    assert tables[:2] == ["compare_verdicts", "compare_environments"]
    assert rows(page, "compare_verdicts")[0]["turn"] == "worse"


def test_every_table_of_the_page_has_its_csv_and_nothing_else_was_removed(page):
    text = (page / "index.html").read_text("utf-8")
    tables = set(re.findall(r'data-table="([a-z_]+)"', text))
    written = {path.stem for path in page.glob("compare_*.csv")}
    assert written == tables | {"compare_cells"}
    assert (page / "mine.csv").read_text() == "not ours"


def test_each_environment_has_its_ratio_with_the_interval(page):
    found = rows(page, "compare_environments")
    assert [row["difference"] for row in found] == ["~"] * 3
    for row in found:
        assert float(row["ratio_low"]) < float(row["ratio"]) < float(row["ratio_high"])
        assert float(row["p"]) <= 1
        assert float(row["detectable"]) > 1.05
    assert sum(int(row["worse"]) for row in found) == 1


def test_a_hostile_name_is_text(page):
    text = whole((page / "index.html").read_text("utf-8"))
    assert counter.HOSTILE not in text
    assert html.escape(counter.HOSTILE, quote=False) in text.replace("&#39;", "'")


def test_a_browser_shows_it_whole_wide_and_narrow_without_a_network(page, browser):
    for width in (1200, 400):
        view = browser.new_page(viewport={"width": width, "height": 800}, offline=True)
        faults = []
        view.on("pageerror", lambda fault, into=faults: into.append(str(fault)))
        view.on("console", lambda said, into=faults: into.append(said.text))
        view.goto((page / "index.html").as_uri())
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        view.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        terms = view.evaluate(
            "[...document.querySelectorAll('.legend dt')].map(e => [e.scrollWidth, e.clientWidth])"
        )
        assert terms and all(needed <= wide for needed, wide in terms)
        assert view.locator("h1").inner_text() == "What changed between two campaigns?"
        assert faults == []
        view.close()
