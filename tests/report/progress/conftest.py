"""The page of one synthetic campaign, made once for all workers."""

from __future__ import annotations

import pytest
from progress_page import made

from onesided.report.material import load
from onesided.studies import find


@pytest.fixture(scope="session")
def page(once):
    return once("campaign-of-progress", made) / "report" / "index.html"


@pytest.fixture(scope="session")
def text(page):
    return page.read_text("utf-8")


@pytest.fixture(scope="session")
def material(page):
    (found,) = load(page.parents[1], find()).materials()
    return found
