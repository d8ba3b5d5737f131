"""The counter's accesses by the number of ranks that want it, with its host idle and busy."""

from __future__ import annotations

from onesided.report.by_cores import ByCores, RanksOf
from onesided.report.cells import axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Section
from onesided.report.pivot import Axis, Pivot
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE

HOSTS = {IDLE_CASE: "idle: waits in a barrier", BASE_CASE: "busy: computes, and takes numbers"}
TABLE = Pivot(
    name="counter_contenders",
    caption="Mean time of an access by all ranks but the host, median over launches with its {}.",
    metric="access_mean",
    statistic="origins",
    axes=[
        Axis("algorithm", "algorithm"),
        Axis("flavor", "flavor"),
        Axis("case", "host", HOSTS),
        RanksOf("ranks", "ranks", whole=True),
    ],
)


def contenders(material: Material) -> Section | None:
    """Return the section; None where all cells have the same number of ranks."""

    def is_shown(cell: Cell) -> bool:
        return axis_of(cell, "case") in HOSTS

    if len({cell.ranks for cell in material.cells if is_shown(cell)}) < 2:
        return None
    lead = (
        "All ranks take numbers from the counter; while its host is idle there is a contender "
        "fewer than ranks."
    )
    parts = tuple(ByCores(TABLE, is_shown).parts(material))
    return Section("counter-contenders", "Contenders", lead, parts)
