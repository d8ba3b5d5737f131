"""The progress page as a whole, and in a browser."""

from __future__ import annotations

import html
import re
import shlex
import shutil

import pytest
from opened import WIDTHS, network, opened
from progress_page import rows_of
from test_report import _Tables
from unpacked import whole

from onesided import report
from onesided.cells import verdicts
from onesided.report import words
from onesided.report.claims_page import WORDS as ANSWERS
from onesided.studies import find
from onesided.studies.stfc.progress.advice import program


def test_every_table_has_a_csv_with_the_same_numbers(text, page):
    parser = _Tables()
    parser.feed(whole(text))
    compared = 0
    for name, shown in parser.numbers.items():
        held = iter([value for row in rows_of(page, name) for value in row.values()])
        for value in shown:
            assert any(value == other for other in held), f"{name}: {value} is not in the CSV"
            compared += 1
    assert compared > 1000


def test_hostile_names_are_text(text):
    assert "<b>none</b>" not in text
    assert "<i>not</i>" not in text
    assert "&lt;b&gt;none&lt;/b&gt;" in text


def test_the_same_campaign_gives_the_same_bytes_and_no_shell_file_of_an_earlier_report_stays(
    page, tmp_path, drawn_once
):
    drawn_once.clear()
    own = tmp_path / page.parents[1].name
    shutil.copytree(page.parents[1], own)

    def content():
        return {path: path.read_bytes() for path in (own / "report").rglob("*") if path.is_file()}

    before = content()
    (own / "report" / "advice" / "gone.sh").write_text("export OLD=1\n")
    report.build(report.load(own, find()), single_file=True)
    assert content() == before


def test_the_legend_explains_every_verdict_that_can_occur():
    assert {
        verdicts.LOCAL_COMPLETION,
        verdicts.SYNCHRONISING,
        verdicts.NO_EFFECT,
        verdicts.HELPER_RETURNED,
        *verdicts.OBSERVED,
    } <= words.meanings().keys()


def test_what_is_written_of_verdicts_is_of_verdicts_that_there_are():
    assert set(words.written("verdicts.yaml")) <= {*verdicts.WORDS, words.MIXED, *ANSWERS}


def test_the_terminal_says_what_the_page_says_and_where_the_advice_is(page, text):
    said = report.terminal_summary(report.load(page.parents[1], find()))
    for lede in re.findall(r'<p class="lede">(.*?)</p>', text):
        plain = html.unescape(re.sub("<[^>]+>", "", lede)).replace("\u202f", " ")
        assert plain.replace("µ", "?") in said.replace("µ", "?")
    assert f"what to use, a file per MPI: {page.parent / 'advice'}" in said
    assert "interval" not in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_with_everything_unfolded(browser, page, width, scheme):
    with opened(browser, page, width, color_scheme=scheme) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        shown.wait_for_timeout(200)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.said == []
        assert network(shown) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_matrix_needs_no_scrolling(browser, page, width):
    with opened(browser, page, width) as shown:
        region = shown.locator('[data-table="truth_default_computes"] .region')
        assert region.evaluate("r => r.scrollWidth - r.clientWidth") <= 0


def test_a_narrow_matrix_shows_signs_and_keeps_the_words_for_who_listens(browser, page):
    with opened(browser, page, 400) as shown:
        mark = shown.locator('[data-table="truth_default_computes"] td .verdict').first
        assert mark.bounding_box()["width"] < 40
        assert mark.locator(".sign").is_visible()
        assert mark.locator(".word").bounding_box()["width"] <= 1
        assert mark.locator(".word").text_content() == "waits"
        assert shown.locator('[data-table="truth_default_computes"] .key .waits').is_visible()


@pytest.mark.one_case
@pytest.mark.parametrize("how", ["click", "keyboard", "tap", "no scripts"])
def test_a_symbol_opens_what_it_is_based_on(browser, page, how):
    options = {"has_touch": how == "tap", "java_script_enabled": how != "no scripts"}
    with opened(browser, page, 400 if how == "tap" else 1280, **options) as shown:
        mark = shown.locator('[data-table="truth_default_computes"] td button.verdict').first
        behind = mark.locator("xpath=following-sibling::*[@popover]")
        assert not behind.is_visible()
        if how == "keyboard":
            mark.press("Enter")
        elif how == "tap":
            mark.tap()
        else:
            mark.click()
        behind.wait_for()
        said = behind.inner_text()
        assert said.startswith("mpich-5.0.2: put, create, lock_exclusive")
        assert (
            "6 of 6 launches valid; it waits in the call that begins the epoch (100\u202f%" in said
        )
        box = behind.locator("svg.sketch path.dots").bounding_box()
        assert box["width"] > 50
        assert behind.bounding_box()["width"] <= (400 if how == "tap" else 1280)
        shown.keyboard.press("Escape")
        behind.wait_for(state="hidden")


def test_the_truth_table_is_there_without_scripts(browser, page):
    with opened(browser, page, java_script_enabled=False) as shown:
        table = shown.locator('[data-table="truth_default_computes"]')
        assert table.locator("td .verdict").count() == 8 * 12
        assert table.locator("td .verdict .word").first.is_visible()
        assert shown.locator("figure .static.wide svg").count() == 2


def test_any_cell_can_be_chosen_and_one_that_is_not_there_says_so(browser, page):
    with opened(browser, page) as shown:
        figure = shown.locator("figure#progress_against_remaining")
        figure.locator("button.explore").click()
        figure.locator(".live svg").wait_for(timeout=15_000)
        marks = figure.locator(".live svg .mark-symbol path")
        choose = {
            name: figure.locator(f"select[name=chosen_{name}]") for name in ("flavor", "target")
        }
        figure.get_by_text("waits", exact=True).wait_for()
        assert marks.count() > 4
        choose["flavor"].select_option("allocate")
        figure.locator("select[name=chosen_synchronisation]").select_option("lock_all_flush")
        figure.get_by_text("independent", exact=True).wait_for()
        choose["target"].select_option("helper_blocked")
        figure.get_by_text("no such cell was measured").wait_for()
        assert marks.count() == 0
        assert shown.said == []


def test_the_first_screen_has_what_is_recommended_as_a_program(text):
    fold = re.search(
        r'<details class="example"><summary>([^<]*)</summary>\n<pre[^>]*>(.*?)</pre>', text, re.S
    )
    recommended = re.search(r"Use <strong>([^<]*)</strong>", text)[1]
    assert fold[1] == f"{recommended} in C: an example for two ranks"
    assert html.unescape(fold[2]) == program("allocate", "lock_all_flush", "put")


def test_each_symbol_has_the_mpi_the_level_the_rows_and_the_command_of_each_of_its_cells(
    text, page, material
):
    behind = re.findall(r'<div popover class="evidence".*?(?=<button|</td>)', text, re.S)
    assert behind
    every = whole(text)
    rows = rows_of(page, "truth_default_computes")
    for one in behind:
        for cell in re.findall(r'<div class="again">.*?</div>', one):
            mpi, level, row, line, csv_name = re.match(
                r'<div class="again"><b>([^<]*)</b>, thread level (\w+): [\w ]+\. '
                r'<a href="#([^"]*)">Its row</a>; line (\d+) of <a href="([^"]*).csv">',
                cell,
            ).groups()
            assert f'<tr id="{row}"' in every
            command = html.unescape(re.search(r'<code class="command">(.*)</code>', cell)[1])
            assert shlex.split(command)[:3] == ["onesided", "rerun", html.unescape(mpi)]
            if csv_name == "truth_default_computes":
                found = rows[int(line) - 2]
                assert (found["environment"], found["thread_level"]) == (html.unescape(mpi), level)
                assert found["again"] == command
