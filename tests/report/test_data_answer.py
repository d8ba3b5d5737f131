"""Is the data right? The answer of first screen, terminal and page, and its limits."""

from __future__ import annotations

import html
import re
import zipfile
from dataclasses import replace

import pytest
from made_up import conformance as made
from made_up import progress as progress
from made_up.conformance import environment, where
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts

from onesided import report
from onesided.cells import verdicts
from onesided.environments import settings
from onesided.measure.analyse import analyse
from onesided.report.answers import terminal_summary
from onesided.report.material import Cell, load
from onesided.studies import find
from onesided.studies.data import answer, tried
from onesided.studies.data import known as own
from onesided.studies.data.axes import AXES
from onesided.studies.data.counts import Counts
from onesided.studies.data.failures import Failures
from onesided.studies.data.known import KnownDefects
from onesided.studies.data.tried import TriedAxes

CELLS = len(made.CELLS)


@pytest.fixture
def made_of(tmp_path):
    """Return a function that gives the material of a campaign with such environments."""
    return lambda *own: materials(made.campaign, tmp_path, environments=own)["conformance"]


def renamed(material, **own):
    """Return a material with the MPIs' families and versions under their names in the record."""
    record = {
        **material.campaign.record,
        "environments": [
            {"name": name, "family": family, "version": version}
            for name, (family, version) in own.items()
        ],
    }
    return replace(material, campaign=replace(material.campaign, record=record))


def said(material):
    return [one.striptags() for one in answer.headline(material).sentences]


def with_labels(material, **labels):
    """Return the same material with one label of each cell changed."""
    cells = [Cell({**cell.entry, "labels": {**cell.labels, **labels}}) for cell in material.cells]
    return replace(material, cells=cells)


def texts(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page))


# ---- How many, and what was not tried ----


def test_the_first_sentence_counts_cells_and_launches_of_each_mpi(made_of):
    alike = made_of(environment(MPICH), environment(OPENMPI))
    assert said(alike)[0] == (
        f"In each MPI, {CELLS} cells were tested, in 1 launch each: {CELLS} of {CELLS} were right."
    )


def test_mpis_with_other_results_have_sentences_of_their_own(made_of):
    bad = where("wrong_data", call="put", count="255")
    first, second, *_ = said(made_of(environment(MPICH), environment(OPENMPI, bad)))
    tested = f"{CELLS} cells were tested, in 1 launch each:"
    assert first == f"In {MPICH}, {tested} {CELLS} of {CELLS} were right."
    assert second == f"In {OPENMPI}, {tested} {CELLS - 1} of {CELLS} were right (1 wrong data)."


def test_what_was_tried_is_counted_from_the_cells(made_of):
    material = made_of(environment(MPICH))
    text = said(material)[1]
    assert text.startswith("Tried: only ")
    # two of fourteen operators, two of the elements, three of four flavors
    assert f"2 of {len(AXES['operator'])} operators" in text
    assert f"2 of {len(AXES['element'])} elements" in text
    assert "3 of 4 window flavors (not shared)" in text
    other = said(with_labels(material, flavor="shared", operator="band", element="byte"))[1]
    assert "1 of 4 window flavors (not create, allocate and dynamic)" in other
    assert f"1 of {len(AXES['operator'])} operators" in other


def test_every_declared_setting_counts(made_of):
    many = len(settings.names())
    assert f"1 of {many} settings" in said(made_of(environment(OPENMPI)))[1]


def test_where_every_value_was_tried_nothing_is_said_to_be_left_out():
    every = [
        tried.Tried(axis, dict.fromkeys(values, 1), ())
        for axis, values in {"setting": ("default", "tcp"), **AXES}.items()
    ]
    assert tried.sentence([MPICH], [MPICH], every) == "Of these axes every value was tried."


def test_the_table_has_each_axis_with_what_most_cells_have_and_what_was_left_out(made_of):
    (table,) = parts(made_of(environment(MPICH), environment(OPENMPI)), TriedAxes)
    rows = {row["axis"]: row for row in table.rows}
    # only the axes of the synthetic cells
    assert set(rows) == {"settings", *(tried.PLURALS[axis] for axis in made.BASE if axis in AXES)}
    flavors = rows["window flavors"]
    assert (str(flavors["tried"]), flavors["missing"]) == ("3 of 4", "shared")
    assert flavors["most"] == f"allocate: {CELLS - 2} cells of {CELLS}"


def test_cells_that_were_not_run_were_not_tried(made_of):
    material = made_of(environment(MPICH))
    cells = [
        Cell({**cell.entry, "verdict": verdicts.UNSUPPORTED})
        if cell.labels["flavor"] == "dynamic"
        else cell
        for cell in material.cells
    ]
    sentence = said(replace(material, cells=cells))[1]
    assert "2 of 4 window flavors (not shared and dynamic)" in sentence


def test_nothing_is_said_where_nothing_was_run(made_of):
    material = made_of(environment(MPICH, where("unavailable")))
    assert answer.headline(material) is None
    assert material.experiment.page.terminal_lines(material) == []


# ---- Known defects ----


def test_the_known_defects_of_each_version_are_named(made_of):
    material = made_of(environment(MPICH), environment(OPENMPI))
    material = renamed(material, **{MPICH: ("mpich", "5.0.2"), OPENMPI: ("openmpi", "5.0.11")})
    lines = [line for line in said(material) if line.startswith("Known to go wrong")]
    assert lines[0].startswith(
        f"Known to go wrong in {MPICH} with no environment variable set: MPI_Fetch_and_op"
    )
    assert "MPI_LAND, MPI_LOR and MPI_LXOR in created and dynamic windows" in lines[1]
    assert "No cell of this campaign meets one of these defects." in said(material)
    rows = {row["environment"]: row for row in answer.headline(material).table.rows}
    known = own.known_of(material.campaign.record, [MPICH, OPENMPI])
    for name, row in rows.items():
        here = [one for one in known if one.environment == name]
        assert row["known"].number == sum(one.is_default for one in here)
        assert row["known_settings"] == sum(not one.is_default for one in here)


def test_no_defect_is_named_of_a_version_in_which_none_was_seen(made_of):
    material = renamed(made_of(environment(OPENMPI)), **{OPENMPI: ("openmpi", "99.0")})
    assert not [line for line in said(material) if line.startswith("Known to go wrong")]
    assert said(material)[-1].startswith(f"No defect is known here of {OPENMPI}")
    assert parts(material, KnownDefects) == []


def test_a_campaign_whose_cells_meet_a_known_defect_says_what_became_of_them(made_of):
    lxor = {"call": "accumulate", "operator": "lxor", "element": "int32", "flavor": "create"}
    bad = made_of(environment(OPENMPI, where("wrong_data", call="accumulate", operator="max")))
    material = renamed(with_labels(bad, **lxor), **{OPENMPI: ("openmpi", "5.0.11")})
    (table,) = parts(material, KnownDefects)
    here = {row["program"]: row["here"] for row in table.rows}
    assert here["accumulate_lxor.c"] == f"2 of {CELLS} cells failed here"
    assert here["accumulate_bxor_int64.c"] == "no cell here meets this defect"
    assert any(line.startswith("Cells of this campaign meet 1 of these") for line in said(material))


# ---- The place of the answer ----


def write(tmp_path, *environments):
    folder = made.campaign(tmp_path, environments)
    analyse(folder, find())
    return report.build(report.load(folder, find())).parent


def test_the_first_screen_the_page_and_the_terminal_say_it(tmp_path):
    pages = write(tmp_path, environment(MPICH), environment(OPENMPI))
    index, data = ((pages / name).read_text("utf-8") for name in ("index.html", "data.html"))
    (line,) = re.findall(r'<p class="on-data">(.*?)</p>', index, re.DOTALL)
    for text in (texts(line), texts(data), terminal_summary(load(tmp_path, find()))):
        assert f"{CELLS} of {CELLS} were right" in text
        assert "Tried: only " in text
    assert 'href="data.html#conformance"' in line
    assert 'class="on-data"' not in data
    for text in (texts(data), terminal_summary(load(tmp_path, find()))):
        assert "onesided run conformance" in text


def test_in_a_single_file_the_first_screen_leads_down_the_page(tmp_path):
    folder = made.campaign(tmp_path, [environment(MPICH)])
    analyse(folder, find())
    page = report.build(report.load(folder, find()), single_file=True).read_text("utf-8")
    (line,) = re.findall(r'<p class="on-data">(.*?)</p>', page, re.DOTALL)
    assert 'href="#conformance"' in line
    assert page.count('id="caption-data_tried"') == 1


def test_a_campaign_that_compares_no_data_says_so_and_what_is_known(tmp_path):
    cells = progress.grid(("put",))
    mpi = progress.Environment("mpich-5.0.2", "mpich", lambda at, setting: "waits")
    progress.campaign(tmp_path, [mpi], cells, ["default"], ["single"], 6)
    analyse(tmp_path, find())
    index = report.build(report.load(tmp_path, find())).read_text("utf-8")
    (line,) = re.findall(r'<p class="on-data">(.*?)</p>', index, re.DOTALL)
    assert answer.NOT_ASKED in texts(line)
    assert "data: " in terminal_summary(load(tmp_path, find()))


# ---- Captions, and removed texts of the page ----


def test_no_caption_speaks_of_failures_over_cells_that_were_right(made_of):
    right = made_of(environment(MPICH))
    (table,) = parts(right, Counts)
    assert "wrong, crashed or hung" not in table.caption
    assert parts(right, Failures) == []


def test_a_caption_speaks_of_failures_where_there_are_some(made_of):
    (table,) = parts(made_of(environment(MPICH, where("crash", call="put"))), Counts)
    assert "wrong, crashed or hung" in table.caption


def test_texts_and_programs_go_with_the_report_and_stale_ones_go(tmp_path, monkeypatch):
    folder = made.campaign(tmp_path, [environment(OPENMPI)])
    analyse(folder, find())
    every = own.known_of(
        {"environments": [{"name": OPENMPI, "family": "openmpi", "version": "5.0.11"}]}, [OPENMPI]
    )
    monkeypatch.setattr(own, "known_of", lambda record, environments: every)
    pages = report.build(report.load(folder, find())).parent
    data = (pages / "data.html").read_text("utf-8")
    links = set(re.findall(r'href="(defects/[^"]+)"', data))
    assert {"defects/accumulate_lxor.c", "defects/openmpi_rdma_logical_operators.md"} <= links
    with zipfile.ZipFile(pages / "data.zip") as archive:
        assert links <= set(archive.namelist())
    for link in links:
        assert (pages / link).read_text("utf-8")
    monkeypatch.setattr(own, "known_of", lambda record, environments: [])
    report.build(report.load(folder, find()))
    assert list((pages / "defects").glob("*")) == []
