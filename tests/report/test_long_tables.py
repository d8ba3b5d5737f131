"""A page shows a part of a table with thousands of rows; it filters, sorts and links the whole."""

from __future__ import annotations

import pytest
from opened import opened

from onesided.report import material, numbers, table
from onesided.report.build import Sheet, render
from onesided.report.parts import Column, Section, Table
from onesided.studies import find

NAME, ROWS, PAGE, OPENING = "long", 2_500, 1_000, 6
VERDICTS = ("crash", "right")


def long_table(rows=ROWS):
    """Half of the rows in each group; the numbers fall, and each fifth is a crash."""
    return Table(
        NAME,
        "Rows, the last of them the least.",
        [
            Column("verdict", "verdict", verdict=True, header=True),
            Column("word", "word"),
            Column("number", "number", numbers.seconds),
        ],
        [
            {
                "group": f"group {2 * index // rows}",
                "verdict": VERDICTS[index % 5 > 0],
                "word": f"<word&{index}>",
                "number": float(rows - index),
            }
            for index in range(rows)
        ],
        groups="group",
        large=True,
        filterable=True,
        named=("word",),
    )


@pytest.fixture(scope="module")
def loaded(campaign):
    return material.load(campaign, find())


@pytest.fixture
def page(loaded, browser, tmp_path):
    """Return a function that opens a table's page, at a row if the test names a row."""
    begun = []

    def shown(found, link=""):
        sheet = Sheet("long.html", "L", "L", [], [Section("one", "One", "", [found])])
        path = tmp_path / sheet.file
        path.write_text(render(loaded, sheet, [sheet]), "utf-8")
        begun.append(opened(browser, path))
        page = begun[-1].__enter__()
        if link:
            page.goto("about:blank")
            page.goto(path.as_uri() + link)
        return page

    yield shown
    for one in begun:
        one.__exit__(None, None, None)


def rows_of(page):
    return page.locator(f'[data-table="{NAME}"] tbody tr:not(.group)')


def words_of(page):
    return [row.split("\t")[1] for row in rows_of(page).all_inner_texts()]


def said(page):
    return page.locator(".more").inner_text()


def test_a_page_adds_a_thousand_rows_at_a_time(page):
    shown = page(long_table())
    assert said(shown) == f"The first 6 of {ROWS} rows; the CSV has all. Show {PAGE} more rows"
    for expected in (OPENING + PAGE, OPENING + 2 * PAGE, ROWS):
        shown.locator(".more button").click()
        shown.wait_for_function(
            "n => document.querySelectorAll('tbody tr:not(.group)').length === n", arg=expected
        )
    assert words_of(shown) == [f"<word&{index}>" for index in range(ROWS)]
    assert shown.locator("tbody tr.group").all_inner_texts() == ["group 0", "group 1"]
    assert not shown.locator(".more").is_visible()


def test_the_filter_looks_at_every_row_also_where_few_are_shown(page):
    shown = page(long_table())
    shown.locator(".filter input").fill("word&2499")
    shown.get_by_text(f"1 of {ROWS} cells").wait_for()
    assert words_of(shown) == ["<word&2499>"]
    shown.locator(".filter input").fill("")
    shown.locator(".filter select").nth(0).select_option("group 1")
    shown.get_by_text(f"1250 of {ROWS} cells").wait_for()
    assert said(shown).startswith("The first 1000 of 1250 rows")
    shown.locator(".filter select").nth(1).select_option("crash")
    shown.get_by_text(f"250 of {ROWS} cells").wait_for()
    assert words_of(shown) == [f"<word&{index}>" for index in range(1250, ROWS, 5)]
    # a wider filter shows rows again that the narrower filter hid
    shown.locator(".filter select").nth(0).select_option("")
    shown.get_by_text(f"500 of {ROWS} cells").wait_for()
    shown.locator(".filter select").nth(1).select_option("")
    shown.get_by_text(f"{ROWS} of {ROWS} cells").wait_for()
    assert rows_of(shown).count() == PAGE


def test_a_head_sorts_every_row_of_each_group(page):
    shown = page(long_table())
    shown.locator("thead th button").nth(2).click()
    shown.locator("thead th[aria-sort=ascending]").wait_for()
    assert words_of(shown)[:2] == ["<word&1249>", "<word&1248>"]
    assert rows_of(shown).count() == PAGE


def test_a_link_opens_the_part_of_the_table_that_has_its_row(page):
    found = long_table()
    shown = page(found, "#" + found.identifier(found.rows[2_300]))
    shown.locator("tr.aimed").wait_for()
    assert "<word&2300>" in shown.locator("tr.aimed").inner_text()
    assert said(shown).startswith(f"Rows 2001 to {ROWS} of {ROWS}")
    assert words_of(shown) == [f"<word&{index}>" for index in range(2_000, ROWS)]


def test_a_table_that_no_page_holds_is_not_filtered_or_sorted_and_says_where_it_is(
    page, monkeypatch
):
    monkeypatch.setattr(table, "MOST_IN_PAGE", ROWS - 1)
    shown = page(long_table())
    assert rows_of(shown).count() == table.FIRST_OF_MANY
    assert said(shown).strip() == f"The first 1000 of {ROWS} rows; the CSV has all."
    assert shown.locator(".filter, thead button, script.rest").count() == 0


def test_the_first_rows_stand_whole_and_more_rows_are_in_a_box_that_scrolls(page):
    own = page(long_table())
    own.set_viewport_size({"width": 400, "height": 900})
    box = own.locator(f'[data-table="{NAME}"] .region')
    scrolls = "one => one.scrollHeight > one.clientHeight + 1"
    assert not box.evaluate(scrolls)
    own.locator(".more button").click()
    own.wait_for_function("document.querySelectorAll('tbody tr').length > 100")
    assert box.evaluate(scrolls)


@pytest.mark.parametrize("size", [8, "8"])
def test_on_a_narrow_page_a_card_says_of_what_its_number_is(page, size):
    columns = [
        Column("size", "bytes", str if size == 8 else None, header=True),
        Column("verdict", "verdict", verdict=True),
        Column("word", "word"),
    ]
    rows = [{"size": size, "verdict": "undecided", "word": "w"}]
    own = page(Table(NAME, "Cards.", columns, rows, form="cards"))
    own.set_viewport_size({"width": 400, "height": 900})
    head = own.locator("tbody th")
    assert head.inner_text() == "8"
    before = head.evaluate("one => getComputedStyle(one, '::before').content")
    assert before.strip('"').strip() == "bytes"
