"""A campaign's report, made once, and a real browser to look at it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import synthetic

from onesided import report
from onesided.analyse import analyse

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def campaign(tmp_path_factory) -> Path:
    folder = synthetic.campaign(tmp_path_factory.mktemp("campaign"))
    analyse(folder)
    return folder


@pytest.fixture(scope="session")
def page_path(campaign) -> Path:
    return report.build(campaign)


@pytest.fixture(scope="session")
def html(page_path) -> str:
    return page_path.read_text("utf-8")


@pytest.fixture(scope="session")
def browser():
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on this machine: the page was not looked at")
    playwright = pytest.importorskip("playwright.sync_api")
    # Chromium's sandbox needs user namespaces, which root in a container does not have
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=found, args=arguments)
        yield running
        running.close()
