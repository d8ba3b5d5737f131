"""Claims about regression mode: which launches are repeated, and what they decide for a figure."""

from __future__ import annotations

import json
import math
import random
import statistics
from pathlib import Path

import pytest

from onesided.campaign import records
from onesided.cells.experiment import Metric
from onesided.regression import propose, references, repeats
from onesided.regression.references import Kept

LATENCY, COMPUTE, ELAPSED = (
    Metric(name, name, "s", origins=True) for name in ("latency", "compute", "elapsed")
)
CELL = "operation=put,target_state=idle"
NAME = f"latency[{CELL}]"
KEPT = Kept({}, {NAME: {"value": 1e-6, "upper": 2e-6, "unit": "s", "launches": 6}}, 1.5e-7, 3.3)
NEAR, FAR = 1e-7, 5e-7
OWN, SHARED = 3.87, 2.2


def result(
    cell=CELL,
    distances=(NEAR,) * 6,
    run_delay=0.0,
    latencies=(1.6e-6, 1.6e-6),
    widths=(OWN, OWN),
    target_widths=(),
):
    """Return a result line whose target computed for 10 ms and waited `run_delay` of this time."""
    series = {
        "latency": latencies,
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


def held(*launches):
    """Return the deciding value of each figure that is checked after these launches."""
    found = repeats.decided(KEPT, [{CELL: launch} for launch in launches])
    return [one.value for one in found.values()]


def asks(*launches, finished=True):
    found = [records.Launch(results={CELL: one}, finished=finished) for one in launches]
    return repeats.asks_for_another(KEPT, found)


def at(latency, **changes):
    return result(latencies=(latency, latency), **changes)


def figure(launch, metric):
    """Return a launch's figure as ReFrame shows it; None without a figure."""
    found = references.launch_figures({CELL: launch}, [metric])
    return found.get(references.figure_name(metric.name, CELL))


def undecided(*launches):
    return repeats.undecided(KEPT, [{CELL: launch} for launch in launches])


def test_a_launch_well_below_the_bound_decides_at_once():
    assert not asks(at(1.4e-6))
    assert held(at(1.4e-6)) == [1.4e-6]


def test_a_launch_near_the_bound_is_repeated_below_it_and_above():
    for latency in (1.6e-6, 2.4e-6, 9e-6):
        assert asks(at(latency))
        assert not asks(at(latency), at(1.2e-6))
        assert held(at(latency), at(1.2e-6)) == [1.2e-6]


def test_a_figure_that_no_launch_clears_is_decided_by_the_median():
    above = [at(latency) for latency in (1.6e-6, 1.7e-6, 2.9e-6, 3e-6, 3e-6, 3.1e-6, 9e-6)]
    assert len(above) == repeats.ENOUGH_LAUNCHES
    assert asks(*above[:-1]) and not asks(*above)
    assert held(*above) == [3e-6]


def test_a_launch_that_did_not_come_to_its_end_is_not_repeated():
    assert not asks(at(9e-6), finished=False)


def test_a_figure_has_an_upper_bound_alone():
    (found,) = repeats.decided(KEPT, [{CELL: at(1e-6)}]).items()
    assert found == (NAME, repeats.Decided(1e-6, (1e-6, None, 1.0, "s")))


def test_a_figure_that_was_not_measured_is_not_held_and_asks_for_nothing():
    assert repeats.decided(KEPT, [{}]) == {}
    assert repeats.undecided(KEPT, [{}]) == []
    assert not repeats.asks_for_another(KEPT, [records.Launch(finished=True)])


def test_a_busy_machine_excuses_nothing():
    assert held(at(3e-6, run_delay=9e-3)) == [3e-6]


def test_a_figure_met_far_apart_is_held_only_where_it_is_clear_all_the_same():
    for distances in ((NEAR, NEAR, NEAR, NEAR, FAR, FAR), (FAR, FAR, NEAR, NEAR, NEAR, NEAR)):
        assert held(at(3e-6, distances=distances)) == []
        assert undecided(at(3e-6, distances=distances)) == [NAME]
        assert held(at(1e-6, distances=distances)) == [1e-6]
        assert undecided(at(1e-6, distances=distances)) == []
    assert held(at(3e-6, distances=(NEAR, NEAR, NEAR, FAR, NEAR, NEAR))) == [3e-6]


def test_launches_that_met_the_cores_otherwise_do_not_decide_beside_others():
    far, above = at(9e-6, distances=(FAR,) * 6), at(3e-6)
    assert held(far, at(1.7e-6), far, at(1.8e-6), at(1.9e-6)) == [1.8e-6]
    assert held(far, above, far, above, above) == [3e-6]
    # a single launch may have been disturbed
    assert held(far, above, far, above) == []
    assert undecided(far, above, far, above) == [NAME]
    assert undecided(far, above, far, above, above) == []


def test_launches_that_met_the_cores_otherwise_are_repeated_but_not_for_ever():
    far, above = at(9e-6, distances=(FAR,) * 6), at(3e-6)
    assert asks(*[far] * (repeats.MOST_LAUNCHES - 1))
    assert not asks(*[far] * repeats.MOST_LAUNCHES)
    assert asks(*[far, above] * 5)
    assert not asks(*[above] * repeats.ENOUGH_LAUNCHES, far)


def test_the_moment_at_which_the_latency_was_least_decides_the_figure_and_how_near_it_was():
    near, far = (NEAR,) * 6, (FAR,) * 6
    one = result(latencies=(3e-6, 5e-6, 1e-6), widths=(OWN,) * 3)
    assert figure(one, LATENCY) == 3e-6
    twice = {"distances": near + far, "widths": (OWN,) * 4}
    quiet_near, quiet_far = (3e-6, 3e-6, 9e-6, 9e-6), (9e-6, 9e-6, 3e-6, 3e-6)
    for latencies in (quiet_near, quiet_far):
        assert figure(result(latencies=latencies, **twice), LATENCY) == 3e-6
    assert held(result(latencies=quiet_near, **twice)) == [3e-6]
    assert held(result(latencies=quiet_far, **twice)) == []
    assert figure(result(), COMPUTE) == 1e-2
    assert figure(result(), ELAPSED) is None


def test_a_figure_met_on_a_core_that_another_used_too_is_not_held():
    assert held(at(3e-6, widths=(SHARED, SHARED))) == []
    # the effect of the target's core is within any bound
    assert held(at(3e-6, target_widths=(OWN, SHARED))) == [3e-6]


def test_moments_on_a_core_that_another_used_too_do_not_count_where_there_are_others():
    twice = {"distances": (NEAR,) * 12, "latencies": (1e-6, 1e-6, 3e-6, 3e-6)}
    alone = {"widths": (OWN,) * 4, "target_widths": (OWN,) * 4}
    for shared in (
        {"widths": (SHARED, SHARED, OWN, OWN)},
        {"target_widths": (OWN, SHARED, OWN, OWN)},
    ):
        one = {**twice, **alone, **shared}
        assert figure(result(**one), LATENCY) == 3e-6
    assert figure(result(**twice, **alone), LATENCY) == 1e-6


def test_samples_on_a_core_that_another_used_too_are_left_out_where_enough_others_remain():
    latencies = (4e-6, 1e-6, 4e-6, 2e-6, 4e-6, 3e-6, 4e-6)
    mixed = result(latencies=latencies, widths=(SHARED, OWN, SHARED, OWN, SHARED, OWN, SHARED))
    assert figure(mixed, LATENCY) == 2e-6
    # two may have been lucky
    few = result(latencies=latencies, widths=(SHARED, OWN, SHARED, OWN, SHARED, SHARED, SHARED))
    assert figure(few, LATENCY) == 4e-6


def test_where_nothing_tells_of_the_cores_the_figure_is_held():
    assert held(at(3e-6, distances=())) == [3e-6]
    assert held(at(3e-6, widths=())) == [3e-6]


def measured(number):
    """Return each latency's launches over their median, None for launches that do not count."""
    path = Path(__file__).parents[1] / "data" / f"launch_spreads_{number}.json"
    cells = json.loads(path.read_text())["cells"]
    return [
        [math.exp(value) if value is not None else None for value in launches]
        for _, kernel, launches in cells
        if kernel == "progress"
    ]


def decide(kept, launches):
    """Return the needed launches in order, and whether the figure fails in the end."""
    found = []
    for latency in launches:
        found.append(records.Launch(results={CELL: at(latency, distances=())}, finished=True))
        if not repeats.asks_for_another(kept, found):
            break
    (one,) = repeats.decided(kept, [launch.results for launch in found]).values()
    return len(found), one.value > one.bound[0] * (1 + one.bound[2])


def runs(number, slow, step=3):
    """Draw references from six successive rounds, and runs of regression mode from all others.

    A run begins at each `step`-th launch. A run in which no launch passes takes long.
    """
    source = random.Random(1)
    for launches in measured(number):
        first = source.randrange(len(launches) - 5)
        six = [one for one in launches[first : first + 6] if one is not None]
        others = [one for one in (*launches[first + 6 :], *launches[:first]) if one is not None]
        if len(six) < propose.LEAST_LAUNCHES or len(others) < repeats.ENOUGH_LAUNCHES:
            continue
        proposal = propose.propose(six)
        if proposal.refusal is None:
            kept = Kept({}, {NAME: proposal.entry(LATENCY)})
            for at_launch in range(0, len(others) - repeats.ENOUGH_LAUNCHES, step):
                yield decide(kept, [slow * one for one in others[at_launch:]])


@pytest.mark.one_case
@pytest.mark.parametrize(("number", "most"), [(1, 0.0), (2, 0.004)])
def test_in_measured_launches_an_unchanged_latency_almost_never_fails(number, most):
    found = list(runs(number, 1.0))
    assert len(found) > 400
    assert statistics.mean(failed for _, failed in found) <= most
    # few launches are repeated for this figure
    assert statistics.mean(count for count, _ in found) < 1.2


@pytest.mark.one_case
@pytest.mark.parametrize(("number", "most"), [(1, 0.0), (2, 0.01)])
def test_in_measured_launches_a_latency_three_times_as_high_is_not_passed(number, most):
    found = list(runs(number, 3.0, step=9))
    assert statistics.mean(not failed for _, failed in found) <= most


@pytest.mark.parametrize(("over_ranks", "value"), [("mean", 2e-6), ("max", 3e-6), ("sum", 4e-6)])
def test_a_figure_that_is_no_latency_is_held_as_its_experiment_declares_it(over_ranks, value):
    """The kept reference says which series and which samples of the ranks it uses."""
    bound = {"value": value, "upper": 2 * value, "unit": "s", "launches": 6}
    kept = references.Kept(
        figures={f"get[{CELL}]": {**bound, "of": {"series": "time", "over_ranks": over_ranks}}}
    )
    series = [
        {"metric": "time", "rank": rank, "samples": [sample] * 3}
        for rank, sample in enumerate((1e-6, 3e-6))
    ]
    found = repeats.decided(kept, [{CELL: {"cell": CELL, "series": series}}])
    assert found[f"get[{CELL}]"].value == pytest.approx(value)
