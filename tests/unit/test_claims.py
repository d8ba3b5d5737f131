"""A claim holds, does not hold, or is open: its entry says what decides, and intervals decide."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from test_pivot import cell

from onesided.campaign.tables import PLACE
from onesided.report import numbers
from onesided.report.claims import Claims
from onesided.report.decisions import DECISIONS, DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.studies import find
from onesided.system.errors import InputError

CLAIMS = Path(__file__).parents[2] / "results" / "published" / "claims"
SLOWER = {
    "place": "Table I",
    "says": "It is slower.",
    "ratio": {"of": {"what": "b"}, "to": {"what": "a"}, "least": 10},
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a study's claims and returns their table."""
    monkeypatch.setenv("ONESIDED_ROOT", str(tmp_path))
    folder = tmp_path / "results" / "published" / "claims"
    folder.mkdir(parents=True)

    def written(entry=SLOWER, metric="time", **changes):
        own = {"metric": metric, "claims": [entry]} | changes
        document = {"schema": "onesided/claims/1", "source": "One", "experiments": {"kernel": own}}
        (folder / "study.yaml").write_text(yaml.safe_dump(document), "utf-8")
        return Claims("study", "kernel")

    return written


def material(above, below=(1.0, 0.9, 1.1), rounds=None, launches=6, **entry):
    """Two cells with these values and intervals; None means no value.

    `rounds` has both values of each round, if rounds are distinguished.
    """
    values = {"a": below, "b": above}
    known = {"system": "s", "partition": "p", "ranks": 2, "setting": None, "oversubscribed": False}
    cells = [
        Cell({**dict.fromkeys(PLACE, what), **cell(what=what).entry, **known, **entry})
        for what in values
    ]
    by_round = {
        (*one.place, "time", "median"): {turn: pair[at] for turn, pair in enumerate(rounds or ())}
        for at, one in enumerate(reversed(cells))
    }

    def measure(one, metric, statistic):
        found = values[one.labels["what"]]
        return found and Measure(*found, 0.95, "interval", launches)

    return SimpleNamespace(
        cells=cells,
        environments=["one"],
        interval_words="",
        measure=measure,
        by_round=by_round,
        lines=SimpleNamespace(environment_of=lambda one: one.environment),
    )


def word(claims, own):
    (table,) = claims.parts(own)
    (row,) = table.rows
    return row["one"]


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ((20.0, 18.0, 22.0), HOLDS),
        ((5.0, 4.0, 6.0), DOES_NOT_HOLD),
        ((10.5, 10.0, 12.0), OPEN),  # the median is above, but the interval is not
        ((9.5, 7.0, 12.0), OPEN),
        (None, NOT_MEASURED),
    ],
)
def test_a_claim_is_decided_by_the_intervals(write, above, expected):
    assert word(write(), material(above)) == expected


def test_a_swing_that_both_values_share_leaves_no_claim_open(write):
    wide = (10.5, 5.0, 22.0), (1.0, 0.5, 2.0)
    swinging = [(11 * swing, swing) for swing in (0.5, 2, 1, 0.7, 1.4, 1.1)]
    assert word(write(), material(*wide)) == OPEN
    assert word(write(), material(*wide, rounds=swinging)) == HOLDS


def test_no_claim_rests_on_cells_with_more_ranks_than_cores(write):
    assert word(write(), material((20.0, 18.0, 22.0), oversubscribed=True)) == NOT_MEASURED


PAIR = {"of": {"what": "b"}, "to": {"what": "a"}}
OF_RATIOS = {"place": "3", "says": "It gains.", "ratio_of_ratios": {"over": PAIR, "under": PAIR}}
OF_RATIOS["ratio_of_ratios"]["least"] = 1
NO_SUCH = SLOWER | {"ratio": {"of": {"what": "c"}, "to": {"what": "a"}, "least": 1}}


@pytest.mark.parametrize(
    ("entry", "above", "more", "why"),
    [
        (NO_SUCH, (2.0, 2.0, 2.0), {}, "this campaign has no such cell"),
        (SLOWER, None, {"verdict": "crash", "detail": "signal 11"}, "crash: signal 11"),
        (OF_RATIOS, None, {"verdict": "not run", "detail": "no time"}, "not run: no time"),
        (OF_RATIOS, None, {"verdict": "reference"}, "no cell of this campaign decides it"),
        (OF_RATIOS, (2.0, 2.0, 2.0), {"oversubscribed": True}, "more ranks than cores"),
        ({"place": "3", "says": "It is.", "untested": "no clock"}, None, {}, "no clock"),
    ],
)
def test_what_was_not_measured_says_why(write, entry, above, more, why):
    (table,) = write(entry).parts(material(above, **more))
    (row,) = table.rows
    assert (row["one"], row["why_one"]) == (NOT_MEASURED, why)
    assert [answer.outcome.why for answer in table.answers] == [why]


def test_the_numbers_stand_beside_the_word(write):
    (table,) = write().parts(material((20.0, 18.0, 22.0)))
    (row,) = table.rows
    claim, found = (str(column.html(row)) for column in table.columns)
    assert "It is slower." in claim
    assert "One, Table I" in claim
    assert found.startswith(HOLDS)
    shown = [numbers.factor(value) for value in (20, 18 / 1.1, 22 / 0.9)]
    assert f"{shown[0]}, {shown[1]} {numbers.DASH} {shown[2]}" in found
    assert "Table I" in table.csv_text()


@pytest.mark.parametrize(
    ("launches", "said"), [(6, f"20.0, 18.0 {numbers.DASH} 22.0"), (1, "20.0")]
)
def test_a_value_has_an_interval_beside_it_unless_it_is_of_one_launch(write, launches, said):
    entry = {"place": "3", "says": "It is long.", "value": {"of": {"what": "b"}, "least": 5}}
    own = material((20.0, 18.0, 22.0), launches=launches)
    (table,) = write(entry).parts(own)
    assert [answer.outcome.why for answer in table.answers] == [said]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"about": 20, "within": 1.5}, HOLDS),
        ({"about": "60/2", "within": 1.1}, DOES_NOT_HOLD),
        ({"least": 1, "most": 20}, OPEN),
        ({"below": 16}, DOES_NOT_HOLD),
    ],
)
def test_bounds_are_two_ends_or_a_number_and_a_factor(write, bounds, expected):
    entry = SLOWER | {"ratio": {"of": {"what": "b"}, "to": {"what": "a"}} | bounds}
    assert word(write(entry), material((20.0, 18.0, 22.0))) == expected


def test_what_all_cells_of_a_claim_have_in_common_is_said_once(write):
    value = {"value": {"of": {}, "most": 5}}
    entry = {"place": "3", "says": "It is short.", "cells": {"what": "a"}} | value
    assert word(write(entry), material((20.0, 18.0, 22.0))) == HOLDS
    assert word(write(entry, cells={"what": "b"}), material((20.0, 18.0, 22.0))) == HOLDS
    del entry["cells"]
    assert word(write(entry, cells={"what": "b"}), material((20.0, 18.0, 22.0))) == DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"says": 3}, "claims.0.says: found 3; expected a line of text"),
        ({"ratio": {"of": {}}}, "claims.0.ratio.to: found nothing; expected a mapping from axes"),
        ({"ratio": {"of": {}, "to": {}}}, "least, most or below, or about and within"),
        (
            {"ratio": {"of": {"x": 1.5}, "to": {}, "least": 1}},
            "of.x: found 1.5; expected a value",
        ),
        ({"value": {"of": {}, "least": 1}}, "claims.0: found ratio, value; expected one of ratio,"),
        ({"verdict": {"of": {}, "is": "slow"}}, "is: found 'slow'; expected one of hangs, ends, c"),
        ({"mean": 1}, "claims.0.mean: found an unknown key; expected one of place, says, metric,"),
    ],
)
def test_an_entry_that_does_not_fit_is_one_line(write, change, said):
    with pytest.raises(InputError) as fault:
        _ = write(SLOWER | change).claims
    assert str(fault.value).startswith(str(write().path))
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_an_experiment_a_metric_and_a_test_of_the_study_have_to_be_there(write):
    with pytest.raises(InputError, match=r"experiments.other: found nothing; expected the claims"):
        _ = Claims("study", write().experiment.replace("kernel", "other")).claims
    own = {name: SLOWER[name] for name in ("place", "says")} | {"own": {"test": "falls"}}
    with pytest.raises(InputError, match=r"own.test: found falls; expected no own test"):
        _ = write(own).claims
    claims = write()
    document = yaml.safe_load(claims.path.read_text("utf-8"))
    del document["experiments"]["kernel"]["metric"]
    claims.path.write_text(yaml.safe_dump(document), "utf-8")
    with pytest.raises(InputError, match=r"metric: found nothing; expected the metric"):
        _ = claims.claims


def test_every_claim_is_read_and_few_need_a_test_of_their_study():
    tables = [
        one
        for entry in find().values()
        for one in getattr(entry.page, "contents", ())
        if isinstance(one, Claims)
    ]
    claims = [claim for table in tables for claim in table.claims]
    assert len(claims) >= 140
    own = [claim for claim in claims if claim.decide not in DECISIONS.values()]
    assert {claim.source.partition(",")[0] for claim in own} == {"Luecke et al."}
    for table in tables:
        experiment = find()[table.experiment]
        assert table.study == experiment.study.name
        document = yaml.safe_load(table.path.read_text("utf-8"))
        for kernel in document["experiments"]:
            assert find()[kernel].study.name == table.study


def test_an_undecided_cell_leaves_a_claim_open_with_the_reason_of_the_cell(write):
    entry = {"place": "3", "says": "It ends.", "verdict": {"of": {}, "is": "completes"}}
    own = material(None, verdict="undecided", detail="1 launch, 5 needed")
    (table,) = write(entry).parts(own)
    (outcome,) = (answer.outcome for answer in table.answers)
    assert (outcome.word, outcome.why) == (OPEN, "undecided: 1 launch, 5 needed")


#: What the page of all claims says about a claim whose words have no bounds.
ABOUT, GROWTH = 1.25, 1.5
#: Words of a claim that give the bounds.
WITH_BOUNDS = re.compile(r"here:|within|times\b.*\)|\d to \d")


def test_a_claim_without_bounds_in_its_words_has_those_that_the_page_names():
    documents = [yaml.safe_load(path.read_text("utf-8")) for path in CLAIMS.glob("*.yaml")]
    entries = [
        (claim["says"], decision, asked["within"])
        for document in documents
        for own in document["experiments"].values()
        for claim in own["claims"]
        for decision, asked in claim.items()
        if isinstance(asked, dict) and "within" in asked
    ]
    assert len(entries) > 30
    silent = [entry for entry in entries if not WITH_BOUNDS.search(entry[0])]
    assert len(silent) > 10
    for says, decision, factor in silent:
        assert factor == (GROWTH if decision == "by_ranks" else ABOUT), says
