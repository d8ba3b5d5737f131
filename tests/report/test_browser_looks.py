"""Claims about how the page looks, on a screen and on paper, made in a real headless Chromium."""

from __future__ import annotations

import pytest
from opened import GRID, WIDTHS, network, opened


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
