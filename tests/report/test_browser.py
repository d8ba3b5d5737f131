"""Claims about what a reader does with the page, made in a real headless Chromium."""

from __future__ import annotations

import pytest
from opened import GRID, WIDTHS, network, opened


def test_from_a_verdict_of_the_answer_the_keyboard_reaches_the_filter(browser, page_path):
    with opened(browser, page_path) as page:
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('a.verdict')"):
                break
        page.keyboard.press("Enter")
        page.get_by_text("of 336 cells").wait_for()
        page.wait_for_function(f"document.activeElement.matches('{GRID}')")
        page.keyboard.press("Tab")
        assert page.evaluate(f"document.activeElement.matches('{GRID} [type=search]')")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SELECT"
        page.keyboard.press("Home")  # every MPI, then every verdict
        page.keyboard.press("Tab")
        page.keyboard.press("Home")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        page.keyboard.type("helper_polling crash")
        page.get_by_text("4 of 336 cells").wait_for()
        assert page.locator(f"{GRID} tbody tr:not(.group):visible").count() == 4


def test_the_address_keeps_the_filter(browser, page_path):
    with opened(browser, page_path) as page:
        page.locator(f"{GRID} .filter input").fill("helper_polling")
        page.locator(f"{GRID} .filter select").nth(1).select_option("crash")
        address = page.url
        assert "filter=helper_polling" in address and "verdict=crash" in address
        page.goto("about:blank")
        page.goto(address)
        page.get_by_text("4 of 336 cells").wait_for()
        assert page.locator(f"{GRID} tbody tr:not(.group):visible").count() == 4
        assert page.locator(f"{GRID} .filter input").input_value() == "helper_polling"
        page.wait_for_function(
            f"document.querySelector('{GRID} .filter').getBoundingClientRect().y < 900"
        )
        page.locator(f"{GRID} .filter input").fill("")
        page.locator(f"{GRID} .filter select").nth(1).select_option("")
        assert "filter" not in page.url


def test_a_head_sorts_its_column_and_the_third_time_leaves_it(browser, page_path):
    with opened(browser, page_path) as page:
        table = page.locator('[data-table="latency"] table')
        numbers = (
            "t => [...t.tBodies[0].querySelectorAll('tr:not(.group) td:nth-child(2) data')]"
            ".map(d => Number(d.value))"
        )
        before = table.evaluate(numbers)
        head = table.locator("thead th").nth(1)
        head.locator("button").press("Enter")
        table.locator("thead th:nth-child(2)[aria-sort=ascending]").wait_for()
        assert table.evaluate(numbers) == sorted(before) != before
        head.locator("button").click()
        table.locator("thead th:nth-child(2)[aria-sort=descending]").wait_for()
        assert table.evaluate(numbers) == sorted(before, reverse=True)
        head.locator("button").click()
        table.locator("thead th:nth-child(2):not([aria-sort])").wait_for()
        assert table.evaluate(numbers) == before


def test_the_address_keeps_the_order_of_a_table(browser, page_path):
    values = (
        "t => [...t.querySelectorAll('tbody tr:not(.group) td:nth-child(2) data')]"
        ".map(d => Number(d.value))"
    )
    with opened(browser, page_path) as page:
        table = page.locator('[data-table="latency"] table')
        heads = table.locator("thead th")
        marks = heads.evaluate_all(
            "all => all.map(one => getComputedStyle(one.querySelector('.sort'), '::after').content)"
        )
        assert all("\u2195" in mark for mark in marks)
        heads.nth(1).locator("button").click()
        heads.nth(1).locator("button").click()
        table.locator("thead th:nth-child(2)[aria-sort=descending]").wait_for()
        address, ordered = page.url, table.evaluate(values)
        assert "table=latency" in address and "order=descending" in address
        page.goto("about:blank")
        page.goto(address)
        table.locator("thead th:nth-child(2)[aria-sort=descending]").wait_for()
        assert table.evaluate(values) == ordered
        heads.nth(1).locator("button").click()
        page.wait_for_function("!location.hash.includes('order')")


@pytest.mark.one_case
@pytest.mark.parametrize("words", ["mpich-5.0.2", "library's own", "mpich target_idle"])
def test_the_filter_finds_an_mpi_by_its_names(browser, page_path, words):
    with opened(browser, page_path) as page:
        page.locator(f"{GRID} .filter input").fill(words)
        page.wait_for_function(
            f"!document.querySelector('{GRID} .filter output').textContent.startsWith('336')"
        )
        shown = page.locator(f"{GRID} tr.group:visible span").all_inner_texts()
        assert "mpich-5.0.2" in shown
        assert ("openmpi-5.0.11" in shown) == (words == "library's own")


def test_a_filter_that_finds_nothing_says_so(browser, page_path):
    with opened(browser, page_path) as page:
        page.locator(f"{GRID} .filter input").fill("no such words")
        page.get_by_text("Nothing has all of this: leave something out.").wait_for()
        assert page.locator(f"{GRID} tbody tr").count() == 0


def test_a_verdict_of_the_answer_leads_to_the_cells_that_it_stands_for(browser, pages):
    with opened(browser, pages / "index.html") as page:
        row = page.locator('[data-table="shared_counter_answer"] tbody tr').first
        mpi = row.locator("th").inner_text().split()[0]
        chip = row.locator("a.verdict", has_text="waits").first
        chip.click()
        page.wait_for_url("**/stfc.html#*verdict=waits*")
        rows = page.locator('[data-table="grid_shared_counter"] tbody tr:not(.group)')
        page.wait_for_function(
            f"document.querySelector('{GRID} .filter output').textContent.match(/^\\d+ of 336/)"
        )
        page.wait_for_function(
            f"[...document.querySelectorAll('{GRID} tbody tr:not(.group)')]"
            ".every(one => one.dataset.verdict === 'waits')"
        )
        assert rows.count() > 1
        assert page.locator(f"{GRID} tr.group:visible span").all_inner_texts() == [mpi]


def test_a_number_of_cells_leads_to_these_cells(browser, pages):
    with opened(browser, pages / "index.html") as page:
        link = page.locator('[data-table="verdicts"] tbody tr').first.locator("td a").first
        number = int(link.inner_text())
        link.click()
        page.wait_for_url("**/stfc.html#mpi=*")
        page.get_by_text(f"{number} of 336 cells").wait_for()


def test_a_link_on_the_same_page_filters_anew(browser, page_path):
    with opened(browser, page_path) as page:
        for word in ("waits", "crash"):
            page.evaluate(f"location.hash = 'table=grid_shared_counter&verdict={word}'")
            page.wait_for_function(
                f"word => [...document.querySelectorAll('{GRID} tbody tr:not(.group)')]"
                ".every(one => one.dataset.verdict === word)",
                arg=word,
            )


@pytest.mark.one_case
@pytest.mark.parametrize("which", ["first", "last"])
def test_the_heading_of_a_linked_row_is_in_sight(browser, page_path, which):
    with opened(browser, page_path) as page:
        grid = page.locator('[data-table="grid_shared_counter"]')
        grid.get_by_role("button", name="Show 330 more rows").click()
        grid.locator(".more").wait_for(state="hidden")
        row = getattr(grid.locator("tbody tr:not(.group)"), which)
        link = row.locator("a.anchor").get_attribute("href")
        mpi = row.evaluate("one => one.parentElement.querySelector('.group').innerText")
        page.goto("about:blank")
        page.goto(page_path.as_uri() + link)
        aimed = page.locator("tr.aimed")
        aimed.wait_for()
        page.wait_for_timeout(300)
        head = grid.locator("thead").bounding_box()
        group = grid.locator("tr.group th", has_text=mpi.strip()).bounding_box()
        at = aimed.bounding_box()
        assert head["y"] >= 0
        assert head["y"] + head["height"] <= group["y"] + 1
        assert group["y"] + group["height"] <= at["y"] + 1
        assert at["y"] + at["height"] <= 900


@pytest.mark.parametrize("width", WIDTHS)
def test_each_page_begins_with_the_way_to_the_others(browser, pages, width):
    for path in sorted(pages.glob("*.html")):
        with opened(browser, path, width) as page:
            links = page.get_by_role("navigation", name="Pages")
            assert links.bounding_box()["y"] < page.locator("h1").bounding_box()["y"]
            own = page.get_by_role("navigation", name="On this page")
            assert own.bounding_box()["y"] < 900 or page.locator(".answer").count()


def test_each_row_has_the_command_that_runs_its_cell_again(browser, page_path):
    with opened(browser, page_path) as page:
        row = page.locator('[data-table="grid_shared_counter"] tbody tr:not(.group)').first
        command = row.locator("code.command")
        assert not command.is_visible()
        row.get_by_text("run again").click()
        assert command.inner_text().startswith("onesided rerun mpich-5.0.2 'algorithm=")
        assert "PATH" in page.locator("#grid .lead").inner_text()


def test_a_long_table_opens_with_its_first_rows_and_shows_all_when_asked(browser, page_path):
    with opened(browser, page_path) as page:
        grid = page.locator('[data-table="grid_shared_counter"]')
        assert grid.locator("tbody tr:not(.group)").count() == 6
        assert "The first 6 of 336 rows; the CSV has all." in grid.locator(".more").inner_text()
        first = grid.locator("tbody tr:not(.group)").first.inner_text()
        grid.get_by_role("button", name="Show 330 more rows").click()
        grid.locator(".more").wait_for(state="hidden")
        assert grid.locator("tbody tr:not(.group)").count() == 336
        assert grid.locator("tbody tr:not(.group)").first.inner_text() == first


def test_a_link_to_a_row_finds_it_where_it_is_not_shown_yet(browser, page_path):
    with opened(browser, page_path) as page:
        grid = page.locator('[data-table="grid_shared_counter"]')
        grid.get_by_role("button", name="Show 330 more rows").click()
        grid.locator(".more").wait_for(state="hidden")
        row = grid.locator("tbody tr:not(.group)").last
        words, link = row.inner_text(), row.locator("a.anchor").get_attribute("href")
        page.goto("about:blank")
        page.goto(page_path.as_uri() + link)
        aimed = page.locator("tr.aimed")
        aimed.wait_for()
        assert aimed.inner_text() == words
        assert 0 < aimed.bounding_box()["y"] < 900


def test_each_section_has_a_link_to_itself_and_the_page_can_be_cited(browser, page_path):
    with opened(browser, page_path) as page:
        links = page.locator("h2 a.anchor")
        assert links.count() > 5
        for link in links.all():
            assert page.locator(link.get_attribute("href")).count() == 1
        page.locator("footer summary").click()
        said = page.locator("footer details").inner_text()
        assert "onesided, campaign " in said
        assert "This is not a network result." in said


def test_the_page_works_without_scripts(browser, page_path):
    with opened(browser, page_path, java_script_enabled=False) as page:
        assert page.locator("figure .static.wide svg").count() == 3
        assert page.locator(f"{GRID} tbody tr:not(.group)").count() == 6
        assert "The first 6 of 336 rows; the CSV has all." in page.locator("main").inner_text()
        assert page.locator("button:visible", has_text="more rows").count() == 0
        assert page.locator("button.explore:visible").count() == 0
        assert page.locator(".answer .verdict").first.is_visible()


def test_each_figure_can_be_explored_offline(browser, page_path):
    with opened(browser, page_path) as page:
        for index in range(3):
            figure = page.locator("figure").nth(index)
            figure.locator("button.explore").click()
            figure.locator(".live svg").wait_for(timeout=15_000)
            assert not figure.locator(".static.wide").is_visible()
            figure.locator("button.explore").click()
            assert figure.locator(".static.wide").is_visible()
        assert page.said == []
        assert network(page) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_reader_gets_from_the_answers_to_a_study_and_back(browser, pages, width):
    with opened(browser, pages / "index.html", width) as page:
        page.get_by_role("link", name="All of the shared counter").click()
        page.wait_for_url("**/stfc.html#*")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure").count() == 3
        page.get_by_role("link", name="The answers").click()
        page.wait_for_url("**/index.html")
        assert page.said == []
        assert network(page) == []
