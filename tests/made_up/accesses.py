"""Accesses to a computing target, made up: samples as the kernel progress writes them."""

from __future__ import annotations

import random

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.cells.verdicts import Probe
from onesided.measure.values import IN_SUMMARY
from onesided.studies.stfc.progress import analysis as progress

LAUNCHES = 6
LENGTHS_S = (0.0, 1e-3, 3e-3, 10e-3)
DELTA_S = 2e-4
TICK_S = 4e-3
LABELS = {
    "operation": "put",
    "flavor": "create",
    "synchronisation": "lock_all_flush",
    "target_state": "computes",
}


def behaviours():
    """Seconds of an access, from the remaining compute and a source of noise."""

    def independent(rest, source):
        return 2e-6 * source.uniform(0.8, 3)

    def waits(rest, source):
        return max(rest, 0) + 1e-5 * source.uniform(0.5, 3)

    def delayed(rest, source):  # until the next tick, at any phase of the tick
        return min(max(rest, 0), TICK_S * source.uniform(0.1, 1))

    def partial(rest, source):
        return source.choice([2e-6, max(rest, 0)])

    return {
        verdicts.INDEPENDENT: independent,
        verdicts.WAITS: waits,
        verdicts.DELAYED: delayed,
        verdicts.PARTIAL: partial,
    }


NEAR_S, FAR_S = 1.1e-7, 3.2e-7
OWN, SHARED = 3.87, 2.2  # operations at a time


def accesses(
    behaviour,
    launches=LAUNCHES,
    samples=5,
    spoilt=0,
    noise=0.0,
    lengths=LENGTHS_S,
    trips=None,
    widths=None,
    target_widths=None,
):
    """Return collected samples of one origin; `spoilt` launches issue all outside the compute.

    `trips` has for each launch the round trips of a cache line before and after the latency. With
    long round trips the latency is three times as high. `widths` has how many operations the core
    did at a time. With a low width the latency is twice as high. `target_widths` has the same for
    the target's core before and after the latency; a low width there costs a fifth.
    """
    source = random.Random(7)
    rows = []
    for number in range(1, launches + 1):
        plan = [length for length in lengths for _ in range(samples)]
        source.shuffle(plan)
        for index, length in enumerate(plan):
            computed = length * (1 + noise * source.random())
            remaining = computed - DELTA_S if number > spoilt else -1e-4
            elapsed = behaviour(remaining, source)
            parts = {"begin": 0.25 * elapsed, "issue": 0.25 * elapsed, "complete": 0.5 * elapsed}
            series = {
                **parts,
                "elapsed": elapsed,
                "remaining": remaining,
                "valid": float(remaining > 0),
                "compute_requested": length,
                "compute": computed,
                "visits": 3.0,
            }
            rows += [(number, metric, index, value) for metric, value in series.items()]
        before, after = trips[number - 1] if trips else (None, None)
        factor = 3 if trips and max(before, after) > 2 * NEAR_S else 1
        if widths:
            factor *= 2 if widths[number - 1] < OWN else 1
            rows += [(number, "core_width", index, widths[number - 1]) for index in range(3)]
        if target_widths:
            looks = target_widths[number - 1]
            factor *= 1.2 if min(looks) < OWN else 1
            rows += [
                (number, "target_core_width", index, width) for index, width in enumerate(looks)
            ]
        rows += [(number, "latency", index, factor * 1e-6 * (1 + index)) for index in range(3)]
        if trips:
            # the other rank may still be in its barrier during the very first trip
            found = [before * 5, before, before, after, after, after]
            rows += [(number, "line_round_trip", index, time) for index, time in enumerate(found)]
    frame = pl.DataFrame(rows, schema=["round", "metric", "index", "value"], orient="row")
    place = (pl.lit("x").alias(name) for name in PLACE)
    return frame.with_columns(*place, rank=pl.lit(1))


def probes_of(samples):
    found = progress.evidence(samples).filter("valid").group_by("round", maintain_order=True)
    probes = [Probe(tuple(part["remaining"]), tuple(part["elapsed"])) for _, part in found]
    launches = samples["round"].n_unique()
    return probes + [Probe((), ())] * (launches - len(probes))


def judged(samples, **labels):
    return progress.judge({**LABELS, **labels}, probes_of(samples))


def values(samples):
    cells = samples.select(*PLACE, "round").unique()
    found = progress.launch_values(cells, samples)
    return {
        (metric, statistic): part["value"].to_list()
        for (metric, statistic), part in found.group_by("metric", IN_SUMMARY)
    }


NEAR, FAR = (NEAR_S, NEAR_S), (FAR_S, FAR_S)


def with_series(samples, name, value):
    """Return the samples with another series, which depends on the state's length."""
    more = samples.filter(pl.col("metric") == "compute")
    return pl.concat([samples, more.with_columns(metric=pl.lit(name), value=value)])
