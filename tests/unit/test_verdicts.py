"""Claims about verdicts, each on samples whose behaviour is known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from onesided.cells import verdicts
from onesided.cells.verdicts import Probe
from onesided.measure import judging


def probes(
    elapsed: Callable[[float, random.Random], float],
    remaining: tuple[float, float] = (1e-3, 10e-3),
    launches: int = 6,
    samples: int = 6,
    seed: int = 3,
) -> list[Probe]:
    source = random.Random(seed)
    found = []
    for _ in range(launches):
        rests = tuple(source.uniform(*remaining) for _ in range(samples))
        found.append(Probe(rests, tuple(elapsed(rest, source) for rest in rests)))
    return found


def test_an_independent_target():
    verdict = judging.judge(probes(lambda rest, source: 2e-5))
    assert verdict.word == verdicts.INDEPENDENT
    assert verdict.valid_launches == 6
    assert verdict.early_fractions == (1.0,) * 6
    assert verdict.tau_s is None


def test_a_waiting_target():
    verdict = judging.judge(probes(lambda rest, source: rest + source.uniform(1e-5, 3e-4)))
    assert verdict.word == verdicts.WAITS
    assert verdict.early_fractions == (0.0,) * 6


def test_a_waiting_target_is_no_partial_one_however_random_the_phase():
    for seed in range(30):
        verdict = judging.judge(
            probes(lambda rest, source: rest * source.uniform(0.97, 3), seed=seed)
        )
        assert verdict.word == verdicts.WAITS


def test_a_delay_that_saturates():
    verdict = judging.judge(probes(lambda rest, source: min(rest, 4e-3) + 1e-5))
    assert verdict.word == verdicts.DELAYED
    assert verdict.tau_s == pytest.approx(4e-3, rel=0.1)


def test_a_scheduler_tick_met_at_a_random_phase():
    verdict = judging.judge(
        probes(lambda rest, source: min(rest, source.uniform(1.5e-3, 4e-3)), samples=12)
    )
    assert verdict.word == verdicts.DELAYED
    assert 1.5e-3 < verdict.tau_s < 4e-3


def test_a_tick_in_a_long_compute_is_not_taken_for_independence():
    tick = probes(lambda rest, source: min(rest, 4e-3), remaining=(10e-3, 240e-3))
    assert min(probe.early_fraction for probe in tick) > 0.5
    assert judging.judge(tick).word == verdicts.DELAYED


def test_no_delay_is_claimed_where_remaining_shows_no_saturation():
    tick = probes(lambda rest, source: min(rest, 4e-3), remaining=(4.2e-3, 5.5e-3))
    verdict = judging.judge(tick)
    assert verdict.tau_s is None
    assert verdict.word == verdicts.PARTIAL
    assert "before the target came back" in verdict.detail


def test_time_in_proportion_to_what_remains_is_no_saturation():
    assert judging.saturating_delay(probes(lambda rest, source: 0.6 * rest)) is None
    assert judging.saturating_delay(probes(lambda rest, source: rest)) is None


def test_a_short_constant_time_is_no_delay():
    assert judging.saturating_delay(probes(lambda rest, source: 3e-4)) is None
    assert judging.judge(probes(lambda rest, source: 3e-4)).word == verdicts.INDEPENDENT


def test_a_target_that_answers_every_second_operation_is_partial():
    for seed in range(30):
        mixed = probes(
            lambda rest, source: 2e-5 if source.random() < 0.5 else rest, samples=8, seed=seed
        )
        assert judging.judge(mixed).word == verdicts.PARTIAL


def test_one_launch_spoilt_by_the_machine_changes_nothing():
    quiet = probes(lambda rest, source: 2e-5, launches=5)
    spoilt = probes(lambda rest, source: rest + 4e-3, launches=1)
    assert judging.judge([*quiet, *spoilt]).word == verdicts.INDEPENDENT
    assert judging.judge([*quiet[:4], *spoilt, *spoilt]).word == verdicts.PARTIAL


def test_too_few_valid_launches_are_undecided_and_say_so():
    empty = [Probe((), ())] * 2
    verdict = judging.judge([*probes(lambda rest, source: 2e-5, launches=4), *empty], "why")
    assert verdict.word == verdicts.UNDECIDED
    assert verdict.detail == "4 of 6 launches valid, 5 needed: why"
    assert verdict.valid_launches == 4


@pytest.mark.parametrize(
    ("valid", "empty", "said"),
    [
        (1, 0, "1 launch, 5 needed: 4 more rounds"),
        (4, 0, "4 launches, 5 needed: 1 more round"),
        (1, 1, "2 launches, 5 needed: 3 more rounds; 1 of 2 not valid: why"),
        (0, 0, "0 launches, 5 needed: 5 more rounds"),
    ],
)
def test_where_rounds_are_lacking_the_reason_says_how_many(valid, empty, said):
    found = probes(lambda rest, source: 2e-5, launches=valid)
    assert judging.judge([*found, *[Probe((), ())] * empty], "why").detail == said


def test_a_launch_with_one_sample_is_not_valid():
    single = probes(lambda rest, source: 2e-5, samples=1)
    assert judging.judge(single).word == verdicts.UNDECIDED


def test_no_samples_at_all_are_undecided():
    assert judging.judge([]).word == verdicts.UNDECIDED
    assert judging.saturating_delay([]) is None


@pytest.mark.parametrize(("valid", "needed"), [(5, 5), (6, 5), (7, 6), (12, 10)])
def test_five_of_six_have_to_agree(valid, needed):
    assert judging.agreeing_launches(valid) == needed


def test_the_worst_failure_dominates():
    word, detail = judging.failure(
        ["ok", "timed_out", "wrong_data", "crash", "ok", "ok"],
        [None, "10 s", "value 7 twice", "rank 1", None, None],
    )
    assert word == verdicts.WRONG_DATA
    assert detail == "in 1 of 6 launches: value 7 twice"


def test_failures_are_ordered_from_wrong_data_down():
    order = ["wrong_data", "hang", "crash", "teardown_failure", "timed_out"]
    for worse, better in itertools.pairwise(order):
        word, _ = judging.failure([better, worse], [None, None])
        assert word == verdicts.VERDICT_OF_STATUS[worse]


def test_a_launch_that_was_not_run_is_a_hole_and_no_failure():
    assert judging.failure(["ok", "not_run"], [None, "killed"]) is None
    assert judging.failure(["not_run", "not_run"], ["killed", None]) == (
        verdicts.NOT_RUN,
        "in 2 of 2 launches: killed",
    )


def test_a_status_nobody_knows_is_undecided_and_named():
    word, detail = judging.failure(["ok", "odd"], [None, None])
    assert word == verdicts.UNDECIDED
    assert "'odd'" in detail


def test_every_verdict_has_its_place_in_the_order():
    assert len(set(verdicts.WORDS)) == len(verdicts.WORDS)
    assert set(verdicts.VERDICT_OF_STATUS.values()) <= set(verdicts.WORDS)
