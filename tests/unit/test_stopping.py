"""Claims about the numbers of cells whose launches ended by the rule of further rounds.

Launches are drawn from the spreads of real launches (data/launch_spreads_*.json; see
test_compare_noise.py). The sorted launches of a cell, with straight lines between them, are a
distribution with a known median. The distributions are skewed, and some have two modes. A cell of
three environments has six launches, then one more in all environments while the rule asks for more,
and sixteen at most. Each cell has a twin with as many launches and without the rule.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict

import pytest
from test_compare_noise import NOISE, spreads_of

from onesided.campaign.tables import PLACE
from onesided.measure import further_rounds
from onesided.measure.statistics import median, median_interval, rerun_interval
from onesided.studies import find

UNTIL = {"half_width_percent": 30, "at_most_rounds": 16}
LEAST = 6
CELLS = 12000
FEWEST_LAUNCHES = 20
ROUNDING = 5e-5
ONE_PERCENT = 0.01


class Distribution:
    """The launches of a real cell as a distribution with known properties."""

    def __init__(self, logarithms, source):
        # equal values after rounding would be a step
        self._sorted = sorted(one + source.uniform(-ROUNDING, ROUNDING) for one in logarithms)

    def at(self, share):
        place = share * (len(self._sorted) - 1)
        before = min(int(place), len(self._sorted) - 2)
        low, high = self._sorted[before : before + 2]
        return math.exp(low + (high - low) * (place - before))

    def drawn(self, source, count):
        return [self.at(source.random()) for _ in range(count)]


def distributions(name, source):
    """Return for each cell one distribution an environment."""
    rows = defaultdict(list)
    for environment, _, values in spreads_of(name):
        rows[environment].append([value for value in values if value is not None])
    return [
        [Distribution(values, source) for values in cell]
        for cell in zip(*rows.values(), strict=True)
        if min(map(len, cell)) >= FEWEST_LAUNCHES
    ]


def cell_and_row(environment, launches):
    """Return the facts of a cell's analysis that the rule uses."""
    cell = dict.fromkeys(PLACE, "") | {"environment": environment, "kernel": "progress"}
    cell |= {"setting": "default", "labels": {}, "oversubscribed": False, "detail": None}
    low, high = rerun_interval(launches)
    row = {"value": median(launches), "rerun_low": low, "rerun_high": high, "launches": LEAST}
    return cell | {"verdict": "waits"}, row


def is_wanted(launches, until):
    both = [cell_and_row(environment, values) for environment, values in enumerate(launches)]
    rows = {tuple(cell[name] for name in PLACE): row for cell, row in both}
    return bool(further_rounds.wanted([cell for cell, _ in both], rows, until, find().merits))


def held(launches, distribution, source):
    """Tell whether both intervals of a cell contain their true values."""
    interval, (low, high) = median_interval(launches), rerun_interval(launches)
    again = median(distribution.drawn(source, len(launches)))
    return interval.low <= distribution.at(0.5) <= interval.high, low <= again <= high


def coverages(name, until=UNTIL, environments=3):
    """Return by group of cells the shares that hold, with the rule and without, and as computed.

    The groups are cells that stopped at the least number, cells with further rounds, and all cells.
    """
    source = random.Random(3)
    known = distributions(name, source)
    found = defaultdict(Counter)
    for _ in range(CELLS):
        here = source.choice(known)[:environments]
        launches = [one.drawn(source, LEAST) for one in here]
        while len(launches[0]) < until["at_most_rounds"] and is_wanted(launches, until):
            for values, one in zip(launches, here, strict=True):
                values += one.drawn(source, 1)
        count = len(launches[0])
        for values, one in zip(launches, here, strict=True):
            of_median, of_rerun = held(values, one, source)
            twin_median, twin_rerun = held(one.drawn(source, count), one, source)
            for group in ("all", "further" if count > LEAST else "least"):
                found[group] += Counter(
                    cells=1,
                    median=of_median,
                    nominal=median_interval(values).coverage,
                    rerun=of_rerun,
                    twin_median=twin_median,
                    twin_rerun=twin_rerun,
                )
    return {
        group: {name: value / counts["cells"] for name, value in counts.items()}
        | {"cells": counts["cells"]}
        for group, counts in found.items()
    }


@pytest.mark.parametrize("name", NOISE)
def test_the_rule_leaves_the_coverage_of_both_intervals_what_it_is_without(name):
    found = coverages(name)
    assert min(found[group]["cells"] for group in ("least", "further")) > 3000
    for shares in found.values():
        assert shares["median"] == pytest.approx(shares["nominal"], abs=ONE_PERCENT)
        assert shares["rerun"] > shares["twin_rerun"] - ONE_PERCENT
    everything = found["all"]
    assert everything["rerun"] == pytest.approx(everything["twin_rerun"], abs=ONE_PERCENT)


@pytest.mark.slow
def test_a_narrow_bound_in_one_environment_is_seen_to_cost_coverage():
    """docs/methods.md warns of this cost; so the simulation finds a harmful rule."""
    found = coverages("launch_spreads_2.json", UNTIL | {"half_width_percent": 10}, 1)["least"]
    assert found["median"] < found["nominal"] - 3 * ONE_PERCENT


if __name__ == "__main__":
    # what docs/methods.md says of other numbers
    for file in ("launch_spreads_1.json", "launch_spreads_2.json"):
        for environments, percent in itertools.product((3, 1), (30, 10)):
            found = coverages(file, UNTIL | {"half_width_percent": percent}, environments)
            for group, shares in sorted(found.items()):
                count = shares.pop("cells")
                said = f"{count} cells" + "".join(f", {k} {100 * shares[k]:.1f}" for k in shares)
                print(f"{file} {environments} environments {percent} %: {group}: {said}")
