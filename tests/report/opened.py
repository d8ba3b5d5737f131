"""Pages in a real headless Chromium."""

from __future__ import annotations

from contextlib import contextmanager

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
