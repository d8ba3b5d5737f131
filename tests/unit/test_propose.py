"""Claims about proposed references: which figures are kept, how wide their bounds are, and why."""

from __future__ import annotations

import json
import math
import shutil

import pytest
import synthetic_progress

from onesided import analyse, cli, documents, propose, references, statistics
from onesided.references import Kept

CELL = "operation=put,target_state=idle"
NAME = f"price[{CELL}]"
KEPT = Kept({}, {NAME: {"value": 1e-6, "upper": 2e-6, "unit": "s", "launches": 6}}, 1.5e-7, 3.3)
NEAR, FAR = 1e-7, 5e-7
OWN, SHARED = 3.87, 2.2


def result(
    cell=CELL,
    distances=(NEAR,) * 6,
    run_delay=0.0,
    prices=(1e-6, 1e-6),
    widths=(OWN, OWN),
    target_widths=(),
):
    """Return a result line whose target computed for 10 ms and waited `run_delay` of it."""
    series = {
        "price": prices,
        "line_round_trip": distances,
        "core_width": widths,
        "target_core_width": target_widths,
        "compute": [1e-2],
        "compute_run_delay": [run_delay],
    }
    return {
        "cell": cell,
        "series": [{"metric": name, "rank": 1, "samples": list(of)} for name, of in series.items()],
    }


def held(**changes):
    return references.bounds(KEPT, {CELL: result(**changes)}, ["elapsed", "price"])


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """Return the folder of a synthetic campaign that was analysed."""
    folder = tmp_path_factory.mktemp("results") / "weekly"
    synthetic_progress.campaign(folder)
    analyse.analyse(folder)
    return folder


@pytest.fixture
def campaign(analysed, tmp_path, monkeypatch):
    """Return a copy of it, for a test to change."""
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    folder = tmp_path / "results" / "weekly"
    shutil.copytree(analysed, folder)
    return folder


def test_the_bound_is_where_one_new_launch_lies_not_a_median_of_six():
    values = [1.0, 1.3, 0.8, 1.1, 0.7, 1.6]
    _, of_six = statistics.rerun_interval(values)
    _, of_one = statistics.rerun_interval(values, again=1)
    middle = statistics.median(values)
    assert propose.upper_bound(middle, of_six, 6) == pytest.approx(of_one)
    assert of_one > of_six


def test_a_bound_is_never_below_the_least_factor():
    assert propose.upper_bound(3e-6, 3.03e-6, 6) == pytest.approx(3e-6 * propose.LEAST_FACTOR)


def test_a_bound_of_usual_spread_notices_a_factor_of_three():
    # 0.1 is what 90 % of the prices met near spread by at most, on the machine they are from
    values = [math.exp(0.1 * z) for z in (-1.3, -0.8, -0.2, 0.2, 0.8, 1.3)]
    _, high = statistics.rerun_interval(values)
    assert propose.upper_bound(1.0, high, 6) < 3


def test_a_figure_is_kept_for_each_cell_but_helped_failed_and_other_settings(campaign, capsys):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    said = capsys.readouterr().out.splitlines()
    cells = analyse.read_verdicts(campaign / "verdicts.json")
    assert {line.partition(": ")[0] for line in said} == {
        str(references.file_of(*(cell[name] for name in ("system", "partition", "environment"))))
        for cell in cells
        if cell["verdict"] == "independent"
    }
    kept = 0
    for cell in cells:
        place = [cell[name] for name in ("system", "partition", "environment", "test")]
        figures = references.read(*place).figures
        name = references.figure_name("price", cell["cell"])
        left_out = (
            "helper" in cell["cell"]
            or cell["setting"] != "default"
            or cell["kernel"] != "progress"
            or cell["verdict"] in ("crash", "hang", "wrong data", "unavailable", "not run")
        )
        if left_out:
            assert name not in figures
        else:
            kept += 1
            figure = figures[name]
            assert figure["value"] * 1.999 <= figure["upper"]
            assert figure["unit"] == "s" and figure["launches"] >= propose.LEAST_LAUNCHES
    assert kept > 10
    assert "figures; a figure fails above 2" in said[0]


def test_what_is_proposed_stands_beside_the_verdicts(campaign):
    assert cli.main(["references", str(campaign)]) == 0
    verdicts = {path: json.loads(path.read_text()) for path in references.folder().rglob("*.json")}
    assert verdicts
    assert cli.main(["references", "propose", str(campaign), "--replace"]) == 0
    for path, document in verdicts.items():
        found = documents.read_json(path, "references")
        assert found["tests"] == document["tests"] and "figures" in found


def test_what_stands_is_not_overwritten_by_a_proposal_unless_asked(campaign, capsys):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    assert cli.main(["references", "propose", str(campaign)]) == 2
    message = capsys.readouterr().err
    assert "--replace" in message and message.count("\n") == 1


def test_a_campaign_that_was_not_analysed_is_told_in_a_line(tmp_path, capsys):
    assert cli.main(["references", "propose", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "verdicts.json" in message and message.count("\n") == 1


def test_a_figure_has_an_upper_bound_alone():
    assert held() == {NAME: (1e-6, None, 1.0, "s")}


def test_a_figure_met_far_apart_is_not_held_before_or_after():
    assert held(distances=(NEAR, NEAR, NEAR, NEAR, FAR, FAR)) == {}
    assert held(distances=(FAR, FAR, NEAR, NEAR, NEAR, NEAR)) == {}
    assert held(distances=(NEAR, NEAR, NEAR, FAR, NEAR, NEAR)) != {}


def test_the_moment_at_which_the_price_was_least_decides_the_figure_and_how_near_it_was():
    near, far = (NEAR,) * 6, (FAR,) * 6
    one = result(prices=(3e-6, 5e-6, 1e-6), widths=(OWN,) * 3)
    assert references.launch_figure(one, "price") == 3e-6
    twice = {"distances": near + far, "widths": (OWN,) * 4}
    quiet_near, quiet_far = (1e-6, 1e-6, 3e-6, 3e-6), (3e-6, 3e-6, 1e-6, 1e-6)
    for prices in (quiet_near, quiet_far):
        assert references.launch_figure(result(prices=prices, **twice), "price") == 1e-6
    assert held(prices=quiet_near, **twice) != {}
    assert held(prices=quiet_far, **twice) == {}
    assert references.launch_figure(result(), "compute") == 1e-2
    assert references.launch_figure(result(), "elapsed") is None


def test_a_figure_met_on_a_core_that_another_used_too_is_not_held():
    assert held(widths=(SHARED, SHARED)) == {}
    # what the target's core costs is within any bound
    assert held(target_widths=(OWN, SHARED)) != {}


def test_moments_on_a_core_that_another_used_too_do_not_count_where_there_are_others():
    twice = {"distances": (NEAR,) * 12, "prices": (1e-6, 1e-6, 3e-6, 3e-6)}
    alone = {"widths": (OWN,) * 4, "target_widths": (OWN,) * 4}
    for shared in (
        {"widths": (SHARED, SHARED, OWN, OWN)},
        {"target_widths": (OWN, SHARED, OWN, OWN)},
    ):
        one = {**twice, **alone, **shared}
        assert references.launch_figure(result(**one), "price") == 3e-6
        assert held(**one) != {}
    assert references.launch_figure(result(**twice, **alone), "price") == 1e-6


def test_samples_on_a_core_that_another_used_too_are_left_out_where_enough_others_remain():
    prices = (4e-6, 1e-6, 4e-6, 2e-6, 4e-6, 3e-6, 4e-6)
    mixed = result(prices=prices, widths=(SHARED, OWN, SHARED, OWN, SHARED, OWN, SHARED))
    assert references.launch_figure(mixed, "price") == 2e-6
    # two may have been lucky
    few = result(prices=prices, widths=(SHARED, OWN, SHARED, OWN, SHARED, SHARED, SHARED))
    assert references.launch_figure(few, "price") == 4e-6


def test_where_nothing_tells_of_the_cores_the_figure_is_held():
    assert held(distances=()) != {}
    assert held(widths=()) != {}


def test_nothing_is_held_in_a_launch_whose_target_waited_for_its_core():
    assert held(run_delay=9e-4) != {}
    assert held(run_delay=1.1e-3) == {}


def test_why_nothing_is_held_is_told_by_what_was_measured():
    assert "busy: the target waited for its core for 40%" in references.why_none(
        {CELL: result(run_delay=4e-3)}
    )
    assert "farther apart" in references.why_none({CELL: result(distances=(FAR,) * 4)})


def test_one_busy_launch_holds_none_of_its_figures_also_of_cells_without_computes():
    idle = result()
    idle["series"] = idle["series"][:1]
    busy = {CELL: idle, "another": result(cell="another", run_delay=5e-3)}
    assert references.bounds(KEPT, {CELL: idle}, ["price"]) != {}
    assert references.bounds(KEPT, busy, ["price"]) == {}


def test_a_helper_that_shares_a_core_does_not_make_the_machine_busy():
    helped = "operation=put,target_state=helper_blocked"
    results = {CELL: result(), helped: result(cell=helped, run_delay=8e-3)}
    assert references.bounds(KEPT, results, ["price"]) != {}


def test_a_bound_that_is_no_number_is_refused(campaign):
    assert cli.main(["references", "propose", str(campaign)]) == 0
    path = next(references.folder().rglob("*.json"))
    document = json.loads(path.read_text())
    figures = next(iter(document["figures"].values()))
    next(iter(figures.values()))["upper"] = "much"
    path.write_text(json.dumps(document))
    test = next(iter(document["figures"]))
    with pytest.raises(Exception, match="the most that one launch may show"):
        references.read(document["system"], document["partition"], document["environment"], test)
