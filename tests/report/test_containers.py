"""Claims about containers in the report: each launch model is beside native, none is pooled."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from made_up import containers as made_up

from onesided import report
from onesided.compare import campaigns
from onesided.measure.analyse import analyse
from onesided.report import containers
from onesided.report.document import files_of
from onesided.report.material import load
from onesided.studies import find

WIDTHS = (1280, 400)
NATIVE = "mpich-5.0.2"


def made(folder, **options):
    """Make a campaign; return the folder."""
    made_up.containers(folder, **options)
    analyse(folder, find())
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("containers"))
    report.build(report.load(folder, find()), single_file=True)
    return folder


def text_of(folder):
    return (folder / "report" / "index.html").read_text("utf-8")


def rows(folder, name):
    """Return the rows of a table: from the report's CSV, or as the report would write them."""
    path = folder / "report" / f"{name}.csv"
    if path.exists():
        text = path.read_text("utf-8")
    else:
        text = files_of(sections_of(folder).values(), [])[path.name].csv_text()
    return list(csv.DictReader(io.StringIO(text)))


def of(found, environment):
    return [row for row in found if row["environment"] == environment]


def sections_of(folder):
    loaded = load(folder, find())
    found = containers.sections(
        loaded.campaign, find(), [cell.entry for cell in loaded.cells], loaded.summary
    )
    return {section.identifier: section for section in found}


def named(*names, **changes):
    """Return some of the synthetic environments, changed for each name with changes."""
    return [
        replace(one, **changes.get(one.name.replace("-", "_").replace(".", "_"), {}))
        for one in made_up.ENVIRONMENTS
        if one.name in names
    ]


# ------------------------------------------------------------------------------- the costs


def test_a_launch_model_that_costs_three_times_as_much_says_so_and_one_that_does_not_is_noise(
    folder,
):
    found = rows(folder, "containers_environments")
    (contained,) = of(found, made_up.CONTAINED)
    (hybrid,) = of(found, made_up.HYBRID)
    assert contained["difference"] == "~"
    assert float(contained["ratio_low"]) < 1.01 and float(contained["ratio_high"]) > 0.99
    assert (hybrid["difference"], hybrid["native"], hybrid["way"]) == ("slower", NATIVE, "hybrid")
    low, high = float(hybrid["ratio_low"]), float(hybrid["ratio_high"])
    assert low < made_up.HYBRID_FACTOR * 1.01 and high > made_up.HYBRID_FACTOR * 0.99
    assert low > 2.9


def test_a_ratio_to_native_is_the_one_that_compare_finds_between_the_two_environments(folder):
    same = {NATIVE: made_up.HYBRID}
    (whole,) = [
        one
        for one in campaigns.compare(folder, folder, find(), same).overall
        if one.other in same.values()
    ]
    (hybrid,) = of(rows(folder, "containers_environments"), made_up.HYBRID)
    assert [float(hybrid[f"ratio{end}"]) for end in ("", "_low", "_high")] == [
        whole.difference.ratio,
        whole.difference.low,
        whole.difference.high,
    ]


def test_each_operation_has_a_ratio_to_native_with_an_interval_for_each_launch_model(folder):
    found = [row for row in rows(folder, "containers_progress") if row["native"] == NATIVE]
    # four operations, two flavors, two synchronisations; all states together
    assert len(found) == 4 * 2 * 2
    for row in found:
        assert float(row["hybrid"]) == pytest.approx(made_up.HYBRID_FACTOR, rel=0.1)
        assert float(row["hybrid_low"]) < float(row["hybrid"]) < float(row["hybrid_high"])
        assert row["hybrid_kind"] == "interval"
        assert row["difference_hybrid"] == "slower"
        assert float(row["contained"]) == pytest.approx(1, rel=0.1)
        assert row["difference_contained"] == "~"
        assert row["bind"] == ""
    assert {"operation", "flavor", "synchronisation"} <= set(found[0])


def test_verdicts_that_differ_come_first_and_an_image_that_cannot_run_is_one_row(folder):
    found = rows(folder, "containers_verdicts")
    lost = of(found, made_up.HYBRID)
    assert {(row["verdict_native"], row["verdict"], row["turn"]) for row in lost} == {
        ("independent", "waits", "worse")
    }
    assert all("operation=get" in row["cell"] for row in lost)
    assert found[: len(lost)] == lost
    (absent,) = found[len(lost) :]
    assert absent["environment"] == "openmpi-5.0.11-bind"
    assert (absent["what"], absent["verdict"]) == ("every cell (24)", "unavailable")
    assert "no apptainer here" in absent["reason"]
    html = text_of(folder)
    at = html.index('id="containers"')
    assert html.index("containers_verdicts.csv", at) < html.index("containers_progress.csv", at)


def test_it_is_said_in_short_for_each_environment(folder):
    said = sections_of(folder)["containers"].parts[0].sentences
    assert said[0].startswith(f"{made_up.CONTAINED} beside {NATIVE}: no verdict differs, no ")
    assert said[1].startswith(f"{made_up.HYBRID} beside {NATIVE}: 1 verdict differs, slower, 3.")
    assert "openmpi-5.0.11-bind beside openmpi-5.0.11: unavailable" in said[2]
    assert "no apptainer here" in said[2]


def test_what_the_ranks_were_left_with_is_what_the_headers_say(folder):
    found = rows(folder, "containers_sharing")
    (native,) = of(found, NATIVE)
    (hybrid,) = of(found, made_up.HYBRID)
    assert (native["own"], native["readv"], native["container"]) == ("none", "can be read", "")
    assert (hybrid["own"], hybrid["readv"]) == ("user, mnt", "cannot be read")
    assert (hybrid["shm"], hybrid["container"]) == ("one for all", "/images/mpich.sif")
    assert (hybrid["namespaces_user"], hybrid["namespaces_pid"]) == ("2", "1")
    assert hybrid["launches"] == "12"


def test_launches_of_one_environment_that_found_themselves_otherwise_are_rows_of_their_own(
    tmp_path,
):
    folder = made(tmp_path / "one", environments=named(NATIVE, made_up.HYBRID), rounds=2)
    path = folder / "campaign.json"
    record = json.loads(path.read_text())
    one = next(one for one in record["launch_facts"] if one["environment"] == made_up.HYBRID)
    record["launch_facts"].append({**one, "dev_shm_shared": False, "launches": 3})
    unknown = {**one["namespaces"], "user": None}
    record["launch_facts"].append({**one, "namespaces": unknown, "launches": 1})
    path.write_text(json.dumps(record))
    found = of(rows(folder, "containers_sharing"), made_up.HYBRID)
    assert [(row["own"], row["shm"], row["launches"]) for row in found] == [
        ("user, mnt", "one for all", "12"),
        ("user, mnt", "several", "3"),
        ("mnt; not told: user", "one for all", "1"),
    ]


def test_few_launches_give_a_ratio_and_no_judgement(tmp_path):
    folder = made(tmp_path / "few", environments=named(NATIVE, made_up.HYBRID), rounds=3)
    (hybrid,) = rows(folder, "containers_environments")
    assert float(hybrid["ratio"]) == pytest.approx(made_up.HYBRID_FACTOR, rel=0.1)
    assert hybrid["difference"] == "too few launches"
    assert {row["difference_hybrid"] for row in rows(folder, "containers_progress")} == {
        "too few launches"
    }


def test_two_images_of_one_launch_model_are_told_apart(tmp_path):
    folder = made(tmp_path / "two", environments=named(NATIVE, made_up.HYBRID, made_up.CONTAINED))
    path = folder / "campaign.json"
    record = json.loads(path.read_text())
    for document in record["environments"]:
        if document["container"]:
            document["launch_model"] = "contained"
    document["container"]["image_name"] = "all"
    path.write_text(json.dumps(record))
    (first, *_) = rows(folder, "containers_progress")
    assert {"contained_mpich", "contained_all"} <= set(first)


# ----------------------------------------------------------------------- when the page exists


def test_a_campaign_without_containers_has_no_such_section(html):
    assert 'id="containers"' not in html
    assert 'id="abi"' not in html


def test_a_container_without_its_native_environment_is_not_compared(tmp_path):
    alone = made(tmp_path / "alone", environments=named(made_up.HYBRID), rounds=2)
    assert sections_of(alone) == {}
    some = made(
        tmp_path / "some",
        environments=named(NATIVE, made_up.HYBRID, "openmpi-5.0.11-bind"),
        rounds=2,
    )
    said = sections_of(some)["containers"].parts[0].sentences
    assert said[-1] == (
        "openmpi-5.0.11-bind stands alone: this campaign has no cells of openmpi-5.0.11 to compare."
    )


# ------------------------------------------------------------------------------- the ABI


def test_the_abi_has_a_section_of_its_own_with_one_binary_on_two_libraries(folder):
    found = rows(folder, "abi_binaries")
    own = [row for row in found if row["environment"] in made_up.ABI]
    assert {row["program_sha256"] for row in own} == {"ab" * 32}
    assert len({row["library_path"] for row in own}) == 2
    assert {row["abi"] for row in own} == {"1.0"}
    assert all(int(row["checked"]) > 0 and row["errors"] == "0" for row in own)
    assert {row["environment"] for row in found} == {*made_up.ABI, *made_up.NATIVE}
    assert "progress: one binary on 2 libraries." in text_of(folder)
    environments = {row["environment"] for row in rows(folder, "abi_environments")}
    assert environments == set(made_up.ABI)
    assert not environments & {
        row["environment"] for row in rows(folder, "containers_environments")
    }


def test_two_binaries_are_not_called_one(tmp_path):
    names = (*made_up.NATIVE, *made_up.ABI)
    other = made(
        tmp_path / "other",
        environments=named(*names),
        rounds=2,
        changes={made_up.ABI[1]: {"program_sha256": "cd" * 32}},
    )
    said = str(sections_of(other)["abi"])
    assert "progress: 2 binaries, so none is named." in said
    assert "one binary on" not in said
    unknown = made(
        tmp_path / "unknown",
        environments=named(*names),
        rounds=2,
        changes={made_up.ABI[1]: {"program_sha256": None}},
    )
    assert "not known whether it is one binary" in str(sections_of(unknown)["abi"])


# ------------------------------------------------------------------------ never pooled


def test_every_launch_model_has_its_own_answer_and_its_own_column_of_the_truth_table(folder):
    answer = {row["environment"]: row for row in rows(folder, "progress_answer")}
    ran = {one.name for one in made_up.ENVIRONMENTS if one.unavailable is None}
    assert ran <= set(answer)
    native, hybrid = answer[NATIVE], answer[made_up.HYBRID]
    assert native["independent"] != hybrid["independent"]
    assert all(int(answer[name]["judged"]) > 0 for name in ran)
    truth = next((folder / "report").glob("truth*.csv")).stem
    verdicts = {
        row["environment"]: row["verdict"]
        for row in rows(folder, truth)
        if (row["axis_operation"], row["axis_flavor"], row["axis_synchronisation"])
        == ("get", "allocate", "lock_all_flush")
    }
    assert verdicts[NATIVE] == verdicts[made_up.CONTAINED] == "independent"
    assert verdicts[made_up.HYBRID] == "waits"


def test_advice_is_one_file_an_environment(folder):
    names = {path.stem for path in (folder / "report" / "advice").iterdir()}
    assert {NATIVE, made_up.CONTAINED, made_up.HYBRID} <= names


# ------------------------------------------------------------------------------ the page


@pytest.mark.parametrize("width", WIDTHS)
def test_the_sections_fit_the_page_and_their_figures_are_drawn(browser, folder, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto((folder / "report" / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for identifier in ("containers", "abi"):
        drawing = page.locator(
            f"#{identifier}_ratios .static.{'wide' if width > 700 else 'narrow'} svg"
        )
        box = drawing.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert drawing.locator(f"text={made_up.ABI[0]}").count() == (identifier == "abi")
    context.close()
