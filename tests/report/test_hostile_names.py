"""Other people's texts in a results folder stay text on the report's pages, and never run."""

import html.parser
import json
import subprocess
import xml.etree.ElementTree as ElementTree

import polars as pl
import pytest
from made_up import counter, progress
from opened import opened
from unpacked import LONG_TABLE, unpack

from onesided import report
from onesided.measure.analyse import analyse
from onesided.studies import find
from onesided.system.errors import InputError
from onesided.system.text import UNSEEN, UNSEEN_IN_LINES

#: If a browser runs any of these scripts, the script sets this.
RUN = "window.hostile=1"
HOSTILE = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"' autofocus onfocus='{RUN}' x='",
    f"</script></style></title><svg onload={RUN}>",
    f"javascript:{RUN}",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[2J\x1b]0;title\x07\nnot a line of ours\r\x85\u2028\u202e",
    "]]><!-- &lt;b&gt; & %s {0}",
    "$(touch {bait}) `touch {bait}`\ntouch {bait}\n'; touch {bait}; '",
)
#: Columns with words of an MPI, a machine or a person; the other columns have our own words.
FREE = ("mpi_version", "detail", "library_version", "host", "placement", "session", "window_model")


def all_of(bait):
    return "".join(HOSTILE).replace("{bait}", str(bait))


def make_hostile(folder, bait):
    """Put hostile text into every free text of a campaign's files."""
    text = all_of(bait)
    path = folder / "cells.parquet"
    cells = pl.read_parquet(path)
    names = {
        name: f"{HOSTILE[turn]}{text}{turn}"
        for turn, name in enumerate(cells["environment"].unique())
    }
    free = [
        pl.when(pl.col(name).is_null() & (name != "detail")).then(None).otherwise(pl.lit(text))
        for name in FREE
    ]
    told = pl.lit(json.dumps({"osc": text, "netmod": text, "provider": text, "shm": True}))
    cells.with_columns(
        *(one.alias(name) for one, name in zip(free, FREE, strict=True)),
        transport=pl.when(pl.col("transport").is_not_null()).then(told),
        environment=pl.col("environment").replace(names),
    ).write_parquet(path)
    for name in ("samples.parquet", "launches.parquet"):
        table = pl.read_parquet(folder / name)
        table.with_columns(environment=pl.col("environment").replace(names)).write_parquet(
            folder / name
        )
    path = folder / "campaign.json"
    record = json.loads(path.read_text())
    environments = [
        {**dict.fromkeys(one, text), "name": names[one["name"]]}
        | {name: one[name] for name in ("status", "family", "version")}
        for one in record["environments"]
    ]
    value = {"variables": {"MPIR_CVAR": text}, "unavailable": None, "transport": {}}
    settings = {"async_thread": dict.fromkeys(names.values(), value)}
    record |= {
        "name": text, "commit": text, "environments": environments, "settings": settings,
        "host": {"name": text, "processor": text, text: text}, "declared": {"description": text},
        "timing": {"wall_s": 9.0, "inside_launches_s": 5.0, "parts": {text: 4.0}},
    }  # fmt: skip
    path.write_text(json.dumps(record))
    return folder


class _Elements(html.parser.HTMLParser):
    """Every kind of element of a page, with its attribute names, and the targets of links."""

    def __init__(self):
        super().__init__()
        self.kinds: set[tuple[str, tuple[str, ...]]] = set()
        self.links: set[str] = set()
        self.scripts: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag, attributes):
        self.kinds.add((tag, tuple(sorted(name for name, _ in attributes))))
        self.links |= {value for name, value in attributes if name in ("href", "src", "xlink:href")}
        self._in_script = tag == "script" and not any(name == "type" for name, _ in attributes)

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.scripts.append(data)


def elements(folder):
    found = _Elements()
    for path in folder.glob("*.html"):
        page = path.read_text("utf-8")
        found.feed(page)
        for rows in LONG_TABLE.finditer(page):
            found.feed(unpack(rows["rest"]))
    return found


MAKERS = {
    "shared_counter": lambda folder: counter.campaign(
        folder, algorithms=("fetch_and_op",), levels=("single",)
    ),
    "progress": lambda folder: progress.campaign(
        folder, progress.ENVIRONMENTS[:1], levels=("single",), baseline=True
    ),
}


#: `make test` has the page with every kind of part and with advice for a shell.
PAGES = [
    name if name == "progress" else pytest.param(name, marks=pytest.mark.slow) for name in MAKERS
]


@pytest.fixture(scope="module", params=PAGES)
def reports(request, tmp_path_factory):
    """Return the folders of a clean report and of a report with hostile names, and the bait."""
    folder = tmp_path_factory.mktemp(request.param)
    bait = folder / "made-by-a-name"
    clean = MAKERS[request.param](folder / "clean")
    hostile = make_hostile(MAKERS[request.param](folder / "hostile"), bait)
    made = []
    for campaign in (clean, hostile):
        analyse(campaign, find())
        made.append(report.build(report.load(campaign, find())).parent)
        assert "cells: " in report.terminal_summary(report.load(campaign, find()))
    return (*made, bait)


def test_a_name_makes_no_element_no_handler_and_no_script(reports):
    clean, hostile, _ = map(elements_or_path, reports)
    handlers = [one for one in hostile.kinds if any(name.startswith("on") for name in one[1])]
    assert handlers == []
    assert {tag for tag, _ in hostile.kinds} <= {tag for tag, _ in clean.kinds} | {
        "sup",
        "li",
        "ul",
    }
    assert set(hostile.scripts) == set(clean.scripts)
    assert not any(link.strip().lower().startswith("javascript") for link in hostile.links)


def elements_or_path(path):
    return elements(path) if path.is_dir() else path


def test_the_names_are_on_the_pages_as_text(reports):
    _, hostile, _ = reports
    page = (hostile / "index.html").read_text("utf-8")
    assert f"&lt;script&gt;{RUN}&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert r"\x1b[2J" in page


def test_no_file_of_the_report_has_a_character_that_is_not_to_be_seen(reports):
    _, hostile, _ = reports
    files = [
        path for path in hostile.rglob("*") if path.suffix in (".html", ".csv", ".svg", ".txt")
    ]
    assert len(files) > 10
    for path in files:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        assert UNSEEN_IN_LINES.search(text) is None, path


def test_every_drawing_is_a_drawing_without_script(reports):
    _, hostile, _ = reports
    for path in hostile.glob("*.svg"):
        for element in ElementTree.parse(path).iter():
            assert not element.tag.endswith("script")
            assert not any(name.startswith("on") for name in element.attrib)


def test_an_advice_that_is_sourced_sets_the_variables_and_runs_no_name(reports):
    clean, hostile, bait = reports
    scripts = [sorted(folder.glob("advice/*.sh")) for folder in (clean, hostile)]
    assert len(scripts[0]) == len(scripts[1])
    said = []
    for path in [one for both in zip(*scripts, strict=True) for one in both]:
        answer = subprocess.run(
            ["sh", "-c", f". '{path}' && env"], env={}, capture_output=True, text=True, check=True
        )
        said.append(sorted(line for line in answer.stdout.splitlines() if "CVAR" in line))
        assert answer.stderr == ""
    assert said[0::2] == said[1::2]
    assert bool(said) == ("progress" in str(hostile))
    assert all(said)
    assert not bait.exists()


def test_the_terminal_gets_no_control_character(reports):
    _, hostile, _ = reports
    said = report.terminal_summary(report.load(hostile.parent, find()))
    assert all(UNSEEN.search(line) is None for line in said.split("\n"))


def test_no_browser_runs_a_name(browser, reports):
    _, hostile, _ = reports
    for path in sorted(hostile.glob("*.html")):
        with opened(browser, path) as page:
            page.on("dialog", lambda dialog: page.said.append(dialog.message))
            for name in ("summary", "button.explore", ".more button"):
                for index in range(page.locator(name).count()):
                    shown = page.locator(name).nth(index)
                    if shown.is_visible():
                        shown.click()
            page.wait_for_timeout(300)
            for drawing in page.locator(".live svg").all():
                drawing.hover()
            page.wait_for_timeout(200)
            assert page.evaluate("window.hostile") is None
            assert page.said == []


@pytest.mark.parametrize(
    "address", [f"javascript:{RUN}", f'https://x" onclick="{RUN}', "file:///etc"]
)
def test_a_repository_that_is_no_page_on_the_web_is_refused(tmp_path, address):
    folder = counter.campaign(tmp_path / "campaign", rounds=1, levels=("single",))
    record = json.loads((folder / "campaign.json").read_text())
    (folder / "campaign.json").write_text(json.dumps({**record, "repository": address}))
    with pytest.raises(
        InputError, match=r"campaign\.json: repository: found .*; expected the address"
    ):
        analyse(folder, find())
