"""A campaign's report, made once, and a real browser."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import vl_convert
from made_up import counter
from shown import materials

from onesided import report
from onesided.measure.analyse import analyse
from onesided.studies import find

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session", autouse=True)
def drawn_once():
    """Draw equal specifications once in a worker: drawing takes half of a report's time."""
    draw, known = vl_convert.vegalite_to_svg, {}

    def drawn(specification, **options):
        key = json.dumps([specification, options], sort_keys=True)
        if key not in known:
            known[key] = draw(specification, **options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", drawn)
        yield known


@pytest.fixture(scope="session")
def campaign(once) -> Path:
    """A campaign with verdicts, and its report in a single file."""

    def make(folder):
        folder.mkdir()
        counter.campaign(folder)
        analyse(folder, find())
        report.build(report.load(folder, find()), single_file=True)

    return once("campaign-of-counter", make)


@pytest.fixture(scope="session")
def page_path(campaign) -> Path:
    """The report in a single file, which has everything that a page can show."""
    return campaign / "report" / "index.html"


@pytest.fixture(scope="session")
def pages(campaign, once) -> Path:
    """The folder of the same report in its default form, with a page for each study."""

    def make(folder):
        own = folder / "campaign"
        shutil.copytree(campaign, own, ignore=shutil.ignore_patterns("report"))
        report.build(report.load(own, find()))

    return once("pages-of-counter", make) / "campaign" / "report"


@pytest.fixture(scope="session")
def html(page_path) -> str:
    return page_path.read_text("utf-8")


@pytest.fixture(scope="module")
def two_cores_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("two-cores")


@pytest.fixture(scope="module")
def two_cores(request, two_cores_folder):
    """The material of a test file's campaign `made`, on two cores: too few for 4 ranks."""
    return materials(request.module.made.campaign, two_cores_folder)


@pytest.fixture(scope="module")
def four_cores(request, tmp_path_factory):
    return materials(request.module.made.campaign, tmp_path_factory.mktemp("four-cores"), cores=4)


@pytest.fixture(scope="module")
def eight_cores(request, tmp_path_factory):
    return materials(request.module.made.campaign, tmp_path_factory.mktemp("eight-cores"), cores=8)


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
