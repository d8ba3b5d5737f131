"""Claims about the page, made in a real headless Chromium."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

WIDTHS = (1280, 400)
GRID = "[data-table=grid_shared_counter]"


@contextmanager
def opened(browser, path, width=1280, **options):
    """Open the page; collect its console messages and its network requests."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(path.as_uri())
    try:
        yield page
    finally:
        context.close()


def network(page):
    return [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_says_nothing_and_asks_nobody(browser, page_path, width, scheme):
    with opened(browser, page_path, width, color_scheme=scheme) as page:
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.said == []
        assert network(page) == []
        assert len([url for url in page.asked if url.startswith("file:")]) == 1


@pytest.mark.one_case
@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (400, "narrow")])
def test_every_figure_is_drawn_for_the_width(browser, page_path, width, shown):
    with opened(browser, page_path, width) as page:
        figures = page.locator("figure")
        assert figures.count() == 3
        for index in range(figures.count()):
            figure = figures.nth(index)
            for variant in ("wide", "narrow"):
                drawing = figure.locator(f".static.{variant} svg")
                assert drawing.is_visible() == (variant == shown)
            box = figure.locator(f".static.{shown} svg").bounding_box()
            assert box["width"] > 250 and box["height"] > 100
            assert box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_the_answer_is_at_the_top(browser, page_path, width):
    with opened(browser, page_path, width) as page:
        answer = page.locator(".answer .lede").first
        assert answer.bounding_box()["y"] < 700
        assert "an access completes while" in answer.inner_text()


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


def test_a_page_is_small_enough_to_open_at_once(browser, pages):
    for path in sorted(pages.glob("*.html")):
        assert path.stat().st_size < 1_500_000, path.name
        with opened(browser, path) as page:
            assert page.evaluate("document.querySelectorAll('*').length") < 10_000, path.name


def test_no_number_is_cut_on_a_telephone(browser, pages):
    cut = """() => [...document.querySelectorAll('td.number')].filter(cell => {
        const edge = cell.closest('.region').getBoundingClientRect();
        return [...cell.children].some(one => {
          const box = one.getBoundingClientRect();
          return box.left < edge.left - 1 || box.right > edge.right + 1;
        });
      }).map(cell => cell.textContent)"""
    for path in sorted(pages.glob("*.html")):
        with opened(browser, path, 400) as page:
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert page.evaluate(cut) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_shade_at_an_edge_says_that_a_table_goes_on(browser, page_path, width):
    shaded = """region => {
      const drawn = getComputedStyle(region).backgroundImage;
      return drawn.split('linear-gradient').length - 1;
    }"""
    with opened(browser, page_path, width) as page:
        for region in page.locator(".region:visible").all():
            # the background that moves with the content, and the shade under it, at each edge
            large = "large" in region.get_attribute("class")
            assert region.evaluate(shaded) == (6 if large else 4)


def test_nothing_is_cut_on_a_wide_page(browser, pages):
    wide = """() => [...document.querySelectorAll('.region, th, td, .command')]
      .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
      .map(one => one.closest('.table-block').dataset.table)"""
    for path in sorted(pages.glob("*.html")):
        with opened(browser, path, 1280) as page:
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert page.evaluate(wide) == [], path.name


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (400, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
        pytest.param(400, "light", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_no_serious_fault(browser, pages, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for path in sorted(pages.glob("*.html")):
        with opened(browser, path, width, color_scheme=scheme) as page:
            found = axe.run(page).response["violations"]
            serious = [one for one in found if one["impact"] in ("serious", "critical")]
            assert not [
                (path.name, one["id"], node["html"][:200])
                for one in serious
                for node in one["nodes"][:3]
            ]


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


def test_print_shows_static_figures_and_says_which_rows_of_a_long_table_it_has(browser, page_path):
    with opened(browser, page_path) as page:
        page.emulate_media(media="print")
        long = page.locator(".table-block:has(.more[data-rows])")
        for block in long.all():
            printed, every = block.locator("tbody tr:not(.group)").count(), block.locator(".more")
            rows = every.get_attribute("data-rows")
            assert f"The first {printed} of {rows} rows; the CSV has all." in every.inner_text()
            assert every.is_visible()
        assert long.count()
        for index in range(3):
            figure = page.locator("figure").nth(index)
            assert figure.locator(".static.wide svg").is_visible()
            assert not figure.locator("button.explore").is_visible()
        clipped = page.evaluate(
            "[...document.querySelectorAll('.region.large')].filter("
            "r => r.scrollHeight > r.clientHeight + 2).length"
        )
        assert clipped == 0


def test_the_answers_and_known_defects_are_printed_on_three_pages_with_everything_unfolded(
    browser, pages
):
    with opened(browser, pages / "index.html") as page:
        page.emulate_media(media="print")
        for fold in page.locator("details").all():
            assert fold.locator("> *").last.is_visible()
        printed = page.pdf(format="A4", prefer_css_page_size=True)
        assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") == 3


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


def test_the_head_of_the_grid_stays_in_sight(browser, page_path):
    with opened(browser, page_path) as page:
        region = page.locator(f"{GRID} .region")
        region.scroll_into_view_if_needed()
        region.evaluate("region => { region.scrollTop = 2000 }")
        top = region.bounding_box()["y"]
        head = page.locator(f"{GRID} thead th").first.bounding_box()["y"]
        assert head == pytest.approx(top, abs=3)


def test_a_verdict_is_told_by_sign_and_word(browser, page_path):
    with opened(browser, page_path) as page:
        badges = page.locator(".verdict:visible").all()[:50]
        assert badges
        for badge in badges:
            sign, word = badge.inner_text().split(maxsplit=1)
            assert len(sign) == 1 and word[0].isalpha()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser, page_path, scheme):
    contrast = """
    () => {
      const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => { x /= 255;
        return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
        return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
      const ground = (e) => { while (e) { const b = getComputedStyle(e).backgroundColor;
        if (b !== 'rgba(0, 0, 0, 0)') return b; e = e.parentElement } return 'rgb(255,255,255)' };
      const texts = document.querySelectorAll('.verdict, .lead, .caption, .interval, a, th');
      return [...texts].map(e => {
        const a = light(getComputedStyle(e).color), b = light(ground(e));
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) });
    }"""
    with opened(browser, page_path, color_scheme=scheme) as page:
        assert min(page.evaluate(contrast)) >= 4.5


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
