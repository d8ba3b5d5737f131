"""Eager limits in words: is there one limit, and does the library report the same limit?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.cells.experiment import Metric
from onesided.environments import settings
from onesided.report import numbers
from onesided.report.cells import apart, apart_by_cores
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.values import Values
from onesided.report.words import listed

LIMIT = Metric("limit", "limit", "count", better="higher")
"""The largest size in bytes for which the call returned before rank 0 received. The value is 0
if no call returned that early."""

REPORTED = {
    variable: Metric(variable.lower(), variable.lower(), "count", better="higher")
    for variable in (
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",
        "MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD",
        "MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD",
        "btl_sm_eager_limit",
        "btl_vader_eager_limit",
        "btl_tcp_eager_limit",
    )
}
"""The limits that a library reports (MPI_T), by the variable's name."""

TITLE = "Up to which size a call returns"
AGREES, DIFFERS, NOT_TOLD = "agrees", "differs", "not told"
HEADER_BYTES_MOST = 128
"""The most bytes that a message's header may have. Reported limits include the header."""

MEANINGS: Mapping[str, str] = {
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "a message shares a cell with its header",
    "btl_sm_eager_limit": "the variable counts the header, too",
    "btl_vader_eager_limit": "the variable counts the header, too",
    "btl_tcp_eager_limit": "the variable counts the header, too",
}
"""The reasons why a measured limit is smaller than a variable's value."""

OF_NETWORK = {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "btl_tcp_eager_limit"}
"""Variables that concern only a path without shared memory."""


def tried(material: Material, cell: Cell) -> pl.DataFrame:
    """Return a row for each size that a launch tried: round, size, and 1 if the call returned."""
    here = [pl.col(name) == value for name, value in zip(PLACE, cell.place, strict=True)]
    samples = material.samples.filter(*here)
    keys = ["round", "rank", "index"]
    size, returned = (
        samples.filter(pl.col("metric") == metric).select(*keys, pl.col("value").alias(name))
        for metric, name in (("tried_bytes", "size"), ("returned", "returned"))
    )
    return size.join(returned, on=keys).select("round", "size", "returned").sort("round", "size")


def agreement(material: Material, cell: Cell, limit: float) -> dict[str, Any]:
    """Compare a cell's limit with the limits that its library reports.

    Returns:
        The fields of a row: `AGREES`, `DIFFERS` or `NOT_TOLD`; the variable that decides; its value
        in bytes; the reason in a few words.
    """
    known = {
        variable: Values(material, metric.name).of(cell) for variable, metric in REPORTED.items()
    }
    bytes_of = {variable: measure.value for variable, measure in known.items() if measure}
    if cell.setting and not settings.shares_memory(cell.setting):
        bytes_of = {variable: bytes_of[variable] for variable in bytes_of if variable in OF_NETWORK}
    told = {variable: value for variable, value in bytes_of.items() if value > 0}
    if not told:
        left = listed([f"{variable} is {value:.0f}" for variable, value in bytes_of.items()])
        why = f"{left}: the library chooses" if left else "no variable is known for this path"
        return {"word": NOT_TOLD, "variable": None, "reported": None, "why": why}
    for variable, value in told.items():
        if 0 <= value - limit <= HEADER_BYTES_MOST:
            less = f"{value - limit:.0f} bytes less: {MEANINGS.get(variable, '')}"
            why = less if value > limit else ""
            return {"word": AGREES, "variable": variable, "reported": value, "why": why}
    variable, value = next(iter(told.items()))
    return {"word": DIFFERS, "variable": variable, "reported": value, "why": ""}


@dataclass(frozen=True)
class Limits:
    """Sentences on each MPI's limits, and a table of the limits that the libraries report."""

    def cells(self, material: Material) -> dict[str, dict[tuple[str, str, str], Cell]]:
        """Return, for each MPI, its cells with a core for each rank, by call, receiver and flavor.

        If the setting is not the default setting, the MPI's name includes the setting.
        """
        cores, _ = apart_by_cores(material, material.cells)
        found: dict[str, dict[tuple[str, str, str], Cell]] = {}
        for cell in cores:
            axes = tuple(cell.axis(name) for name in ("call", "receiver", "flavor"))
            is_default = cell.setting in (None, settings.DEFAULT)
            name = cell.environment if is_default else f"{cell.environment}, {cell.setting}"
            found.setdefault(name, {}).setdefault(axes, cell)  # type: ignore[arg-type]
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and a table, or nothing if no limit was measured."""
        material = apart(material)
        said: list[str] = []
        rows: list[dict[str, Any]] = []
        for name, cells in self.cells(material).items():
            limits = {
                receiver: (cell, measure)
                for (call, receiver, _), cell in cells.items()
                if call == "send" and (measure := Values(material, LIMIT.name).of(cell)) is not None
            }
            if "in_mpi" not in limits:
                continue
            said.append(self._sentence(material, name, limits))
            cell, limit = limits["in_mpi"]
            agrees = agreement(material, cell, limit.value)
            rows.append({"environment": name, "limit": limit, **agrees})
        if not rows:
            return []
        columns = [
            Column("environment", "MPI", header=True),
            Column("limit", "limit here, bytes", numbers.exact_bytes, measure=True, unit="count"),
            Column("reported", "the library says", numbers.exact_bytes),
            Column("word", "and that", note="why"),
            Column("variable", "variable (MPI_T)", prose=True),
        ]
        caption = (
            "The limit of MPI_Send while rank 0 is in MPI, median over launches with its "
            f"{material.interval_words}, and what the library reports of itself. It agrees where "
            f"a header of at most {HEADER_BYTES_MOST} bytes explains the difference."
        )
        table = Table("eager_limit_reported", caption, columns, rows, form="cards")
        return [Prose(TITLE, [*said, self._one_limit(material)]), table]

    def _sentence(
        self, material: Material, name: str, limits: Mapping[str, tuple[Cell, Measure]]
    ) -> str:
        words = {"in_mpi": "while the receiver is in MPI", "outside": "while it is outside"}
        said = []
        for receiver, where in words.items():
            if receiver in limits:
                cell, limit = limits[receiver]
                largest = tried(material, cell)["size"].max()
                all_of = limit.value == largest
                size = (
                    f"at every size, {limit.value:.0f} bytes at most"
                    if all_of
                    else (f"up to {limit.value:.0f} bytes" if limit.value else "at no size")
                )
                said.append(f"{size} {where}")
        return f"{name}: with no receive posted MPI_Send returns {', and '.join(said)}."

    def _one_limit(self, material: Material) -> str:
        """Say whether, in each launch, the call returned at all sizes below the limit."""
        odd: list[str] = []
        launches = 0
        for cell in material.cells:
            for (turn,), sizes in tried(material, cell).group_by("round"):
                launches += 1
                limit = sizes.filter(pl.col("returned") == 1)["size"].max() or 0
                if sizes.filter((pl.col("returned") == 0) & (pl.col("size") < limit)).height:
                    odd.append(f"{cell.environment}, {cell.ranks} ranks, round {turn}: {cell.cell}")
        if not odd:
            return f"In each of {launches} searches every size below the limit returned."
        return (
            f"In {len(odd)} of {launches} searches a size below the limit did not return: "
            f"{listed(sorted(odd)[:3])}{' and others' if len(odd) > 3 else ''}."
        )
