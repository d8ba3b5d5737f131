"""Claims about more than two ranks: decided if such ranks were measured; else the page says so."""

from __future__ import annotations

import pytest
from made_up import collectives, dinan, exchanges, messages, patterns
from made_up.generator import MPICH, TWO
from shown import materials, parts

from onesided.report.by_cores import Growth
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, RANKS, Cells

STUDIES = {
    module.__name__.partition(".")[2]: module
    for module in (patterns, exchanges, dinan, collectives, messages)
}
FEW, MANY = (2,), (2, 4, 16, 64)
#: Options for the fewest trials from which a time can be made: 64 ranks have a million samples.
TRIALS = {patterns: {"trials": 11}}
OF_GROWTH = ("by_ranks", "grows", "near_and_far")


def numbers_in(claim):
    """Return the numbers of ranks in a claim."""
    asked = claim.asked if isinstance(claim.asked, dict) else {}
    choices = [claim.common, *(asked.get(side, {}) for side in ("of", "to"))]
    return {choice[RANKS] for choice in choices if RANKS in choice} | set(asked.get(RANKS, ()))


def outcomes(found):
    """Return, for each claim about more than two ranks, its numbers and its outcome."""
    told = []
    for material in found.values():
        for one in material.experiment.page.contents:
            for claim in one.claims if isinstance(one, Claims) else ():
                named = numbers_in(claim)
                if claim.decide.__name__ in OF_GROWTH or named - {2}:
                    told.append((claim, named, claim.outcome(Cells.of(material, MPICH))))
    return told


def outcomes_of(study, folder, ranks, cores):
    """Return the outcomes of a study's claims with the one MPI of the campaign."""
    options = {"environments": getattr(study, "ENVIRONMENTS", TWO)[:1], **TRIALS.get(study, {})}
    return outcomes(
        materials(study.campaign, folder, ranks=ranks, cores=cores, rounds=2, **options)
    )


@pytest.fixture(scope="module", params=STUDIES)
def on_64_cores(request, tmp_path_factory):
    return outcomes_of(STUDIES[request.param], tmp_path_factory.mktemp("many"), MANY, 64)


@pytest.fixture(scope="module", params=STUDIES)
def on_two_cores(request, tmp_path_factory):
    return outcomes_of(STUDIES[request.param], tmp_path_factory.mktemp("few"), FEW, 2)


def test_with_64_ranks_on_64_cores_each_is_decided_unless_it_names_another_number(on_64_cores):
    assert on_64_cores
    for claim, named, outcome in on_64_cores:
        others = named - set(MANY)
        if others:
            assert outcome.word == NOT_MEASURED, claim.words
            assert "measured with 2, 4, 16 and 64 ranks, not with " in outcome.why, claim.words
        else:
            assert outcome.word in (HOLDS, DOES_NOT_HOLD, OPEN), (claim.words, outcome)


def test_with_two_ranks_each_says_what_was_measured(on_two_cores):
    assert on_two_cores
    for claim, _, outcome in on_two_cores:
        assert outcome.word == NOT_MEASURED, claim.words
        assert "measured with" in outcome.why and "2 ranks" in outcome.why, (claim.words, outcome)


def test_a_changed_time_at_64_ranks_changes_what_becomes_of_a_claim_on_growth(tmp_path):
    def of_growth(slower):
        def time_s(kernel, ranks, at, **more):
            return dinan.as_claimed(kernel, ranks, at) * (slower if ranks == 64 else 1)

        options = {"kernels": ["linked_list"], "ranks": MANY, "cores": 64, "rounds": 2}
        found = materials(dinan.campaign, tmp_path / str(slower), times=time_s, **options)
        (word,) = [o.word for c, _, o in outcomes(found) if "with the square" in c.words]
        return word

    assert of_growth(1) == HOLDS
    assert of_growth(30) == DOES_NOT_HOLD


def test_a_page_shows_which_law_of_growth_the_intervals_of_three_numbers_of_ranks_leave(tmp_path):
    options = {"kernels": ["linked_list"], "ranks": MANY, "cores": 64, "rounds": 6}
    found = materials(dinan.campaign, tmp_path / "many", times=dinan.as_claimed, **options)
    times, waits = (folded.part for folded in parts(found["linked_list"], Growth))
    rows = {row["cell"]: row for row in times.rows}
    appended = [row for cell, row in rows.items() if "operation=append" in cell]
    assert appended and {row[MPICH] for row in appended} == {"quadratic"}
    assert not any("none" in row["cell"] for row in rows.values())
    for row in appended:
        assert row[f"growth_{MPICH}"].endswith(
            " with 2, 4, 16 and 64 ranks; excluded: constant, logarithmic, linear"
        )
        first, last = row[f"first_{MPICH}"], row[f"last_{MPICH}"]
        assert first.low < first.value < first.high < last.low < last.value
    assert {row[MPICH] for row in waits.rows} == {"constant"}
    assert all("target_state=computes" in row["cell"] for row in waits.rows)
    crowd = materials(dinan.campaign, tmp_path / "crowd", **{**options, "cores": 16})
    for row in parts(crowd["linked_list"], Growth)[0].part.rows:
        assert " with 2, 4 and 16 ranks" in row[f"growth_{MPICH}"]
        assert row[f"growth_{MPICH}"].endswith("; no core for each: 64")
    few = materials(dinan.campaign, tmp_path / "few", **{**options, "ranks": (2, 4)})
    assert parts(few["linked_list"], Growth) == []
