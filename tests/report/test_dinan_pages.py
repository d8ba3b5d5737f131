"""The page of the study of MPI-3's one-sided interface: tables, figures, verdicts, claims."""

import random
import re

import pytest
from made_up import dinan as made
from made_up.generator import MPICH, OPENMPI
from shown import materials, parts

from onesided import report
from onesided.cells.verdicts import INDEPENDENT, REFERENCE, WAITS
from onesided.report.by_cores import ByCores, ByRanks
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN
from onesided.report.parts import Folded
from onesided.studies import find
from onesided.studies.parts.waits import Waits


def found(material, environment=MPICH):
    """Return each claim's outcome and reason, by the claim's words."""
    (table,) = parts(material, Claims)
    return {row["claim"]: (row[environment], row[f"why_{environment}"]) for row in table.rows}


def of_words(claims, words):
    (one,) = (result for claim, result in claims.items() if words in claim)
    return one


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_cells_with_more_ranks_than_cores_are_folded_in_tables_of_their_own(two_cores, kernel):
    tables = parts(two_cores[kernel], ByCores)
    opening = [one for one in tables if not isinstance(one, Folded)]
    crowd = [one for one in tables if isinstance(one, Folded)]
    assert len(opening) == len(crowd) == 2
    assert {row["where"].split(", ")[2] for one in opening for row in one.rows} == {"2 ranks"}
    for one in crowd:
        assert one.summary == "More ranks than cores"
        assert {row["where"].split(", ")[2] for row in one.part.rows} == {"4 ranks"}
        assert "no claim and no ratio rests on it" in one.part.caption


def test_the_time_of_a_cycle_is_the_mean_of_all_ranks_and_that_of_a_list_the_slowest(two_cores):
    for kernel, ranks in (("mutex", 2), ("linked_list", 2)):
        material = two_cores[kernel]
        timed = [cell for cell in material.cells if cell.ranks == ranks]
        timed = [cell for cell in timed if cell.labels["target_state"] != "computes"]
        for cell in timed:
            factor = {MPICH: 1.0, OPENMPI: 2.0}[cell.environment]
            expected = made.MCS_S * made.as_claimed(kernel, ranks, cell.labels) * factor
            value = material.measure(cell, "time", "median").value
            assert value == pytest.approx(expected, rel=0.012)
    means = [
        metric.over_ranks
        for kernel in made.KERNELS
        for metric in two_cores[kernel].experiment.metrics
        if metric.name == "time"
    ]
    assert means == ["mean", "max"]


def test_the_figures_by_ranks_tell_crowded_points_from_others(two_cores):
    (figure,) = parts(two_cores["mutex"], ByRanks)
    rows = figure.table.rows
    assert {row["label"] for row in rows} == {"2", "4"}
    assert all(("crowded" in row["series"]) == (row["label"] == "4") for row in rows)
    assert "the scheduler is measured too" in figure.caption
    # a shortened name may look like another name
    names = {row["series"] for row in rows}
    assert "MCS, shared locks (MPI-3), crowded" in names
    assert all(f">{name}</text>" in figure.wide for name in names)


@pytest.mark.parametrize("kernel", made.KERNELS)
def test_a_cell_in_which_the_target_computes_has_a_verdict_and_the_others_have_none(
    two_cores, kernel
):
    table, prose = parts(two_cores[kernel], Waits)
    assert {row[MPICH] for row in table.rows} == {WAITS}
    assert {row[OPENMPI] for row in table.rows} == {INDEPENDENT}
    assert "needs a call" not in table.caption
    assert prose.sentences
    for cell in two_cores[kernel].cells:
        assert (cell.verdict == REFERENCE) == (cell.labels["target_state"] != "computes")


def test_claims_are_computed_from_cells_with_a_core_for_each_rank(two_cores):
    mutex, linked = found(two_cores["mutex"]), found(two_cores["linked_list"])
    assert of_words(mutex, "With few processes")[0] == HOLDS
    assert of_words(mutex, "Contention")[0] == HOLDS
    assert of_words(mutex, "The byte vector is fair")[0] == HOLDS
    assert of_words(linked, "up to four")[0] == HOLDS
    assert of_words(linked, "read faster")[0] == HOLDS
    assert of_words(linked, "with the square")[0] == NOT_MEASURED
    for claims in (mutex, linked):
        assert of_words(claims, "256") == (
            NOT_MEASURED,
            "measured with 2 ranks, not with 256 ranks",
        )


def test_a_claim_says_the_ratio_that_it_rests_on_and_its_interval(two_cores):
    word, why = of_words(found(two_cores["mutex"]), "With few processes")
    assert word == HOLDS
    assert why.startswith("10")
    low, high = (float(number) for number in re.findall(r"[\d.]+", why.split(",")[1]))
    assert 9.7 < low <= 10 <= high < 10.3


def test_with_more_cores_the_growth_is_a_claim_that_can_be_decided(tmp_path):
    def linear(kernel, ranks, at):
        return made.as_claimed(kernel, 2, at) * ranks / 2

    options = {"cores": 8, "kernels": ["linked_list"]}
    claimed = found(materials(made.campaign, tmp_path / "claimed", **options)["linked_list"])
    assert of_words(claimed, "with the square")[0] == HOLDS
    other = found(
        materials(made.campaign, tmp_path / "linear", times=linear, **options)["linked_list"]
    )
    assert of_words(other, "with the square")[0] == DOES_NOT_HOLD


def test_claims_that_are_not_borne_out_are_said_not_to_hold(tmp_path):
    def reversed_times(kernel, ranks, at):
        factor = 0.01 if at.get("algorithm") == "byte_vector" else 1.0
        alone = 0.01 if kernel == "mutex" and at["algorithm"] == "mcs" else 1.0
        alone = alone if at["target_state"] == "idle" else 1.0
        idiom = {"shared": 0.1}.get(at.get("idiom"), 1.0)
        return made.as_claimed(kernel, ranks, at) * factor * alone * idiom

    other = materials(made.campaign, tmp_path, times=reversed_times)
    mutex, linked = found(other["mutex"]), found(other["linked_list"])
    assert of_words(mutex, "With few processes")[0] == DOES_NOT_HOLD
    assert of_words(mutex, "Contention")[0] == DOES_NOT_HOLD
    for words in ("up to four", "read faster", "written faster inside", "takes longer"):
        assert of_words(linked, words)[0] == DOES_NOT_HOLD


def test_an_interval_that_reaches_to_both_sides_leaves_a_claim_open(tmp_path):
    source = random.Random(1)

    def alike(kernel, ranks, at):
        return source.uniform(0.9, 1.1)  # of a cell in a round

    linked = found(
        materials(made.campaign, tmp_path, times=alike, kernels=["linked_list"])["linked_list"]
    )
    assert of_words(linked, "read faster")[0] == OPEN


def test_the_study_has_one_page_with_both_experiments(two_cores_folder, two_cores):
    report.build(report.load(two_cores_folder, find()))
    text = (two_cores_folder / "report" / "dinan.html").read_text("utf-8")
    for title in ("Mutex", "Linked list"):
        assert f">{title}" in text
    assert "Dinan et al., section 5.2.3" in text
