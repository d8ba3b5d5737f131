"""The page of one synthetic campaign, made once."""

from __future__ import annotations

import pytest
from progress_page import made

from onesided.report.material import load
from onesided.studies import find


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    return made(tmp_path_factory.mktemp("progress"))


@pytest.fixture(scope="session")
def text(page):
    return page.read_text("utf-8")


@pytest.fixture(scope="session")
def material(page):
    (found,) = load(page.parents[1], find()).materials()
    return found
