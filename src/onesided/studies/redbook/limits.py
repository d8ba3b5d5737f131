"""Sentences on eager limits: whether a library reports its limit, and the cost of exceeding it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.cells.experiment import Metric
from onesided.environments import settings
from onesided.report import numbers
from onesided.report.cells import Values, apart, apart_by_cores, grouped, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Row, Table
from onesided.report.pivot import SIZE, WHERE, Axis, by_difference
from onesided.report.ratios import first_by
from onesided.report.words import listed
from onesided.studies.parts.exchanges import USED_BYTES
from onesided.studies.parts.ways import has_size

LIMIT = Metric("limit", "limit", "count", better="higher")
"""The largest message size, in bytes, for which the call returned before rank 0 received the
message; 0 if every call waited until rank 0 received the message."""

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
"""For each MPI_T variable that reports an eager limit: the metric with the variable's value."""

RAISED, LOWERED = "eager_raised", "eager_lowered"
"""The names of the settings that raise and lower the eager limit."""

TITLE = "Up to which size a call returns"
AGREES, DIFFERS, NOT_TOLD = "agrees", "differs", "not told"
HEADER_BYTES_MOST = 128
"""Reported limits include a message's header, which is assumed to have at most this many bytes."""

MEANINGS: Mapping[str, str] = {
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "a message shares a cell with its header",
    "btl_sm_eager_limit": "the variable counts the header, too",
    "btl_vader_eager_limit": "the variable counts the header, too",
    "btl_tcp_eager_limit": "the variable counts the header, too",
}
"""For each eager-limit variable: why the measured limit is smaller than the variable's value."""

OF_NETWORK = {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "btl_tcp_eager_limit"}
"""The variables whose eager limit applies only without shared memory."""


def tried(material: Material, cell: Cell) -> pl.DataFrame:
    """Return one row for each message size that a launch tried; one column has the round.

    The column ``returned`` is 1 if the call returned before rank 0 received the message.
    """
    here = [pl.col(name) == value for name, value in zip(PLACE, cell.place, strict=True)]
    samples = material.samples.filter(*here)
    keys = ["round", "rank", "index"]
    size, returned = (
        samples.filter(pl.col("metric") == metric).select(*keys, pl.col("value").alias(name))
        for metric, name in (("tried_bytes", "size"), ("returned", "returned"))
    )
    return size.join(returned, on=keys).select("round", "size", "returned").sort("round", "size")


def no_limit(material: Material, cell: Cell, limit: object) -> str | None:
    """Return a remark if the calls of a cell returned at every size; None if there is a limit."""
    is_last = isinstance(limit, Measure) and limit.value == tried(material, cell)["size"].max()
    return "every size that was tried" if is_last else None


def agreement(material: Material, cell: Cell, limit: float) -> dict[str, Any]:
    """Compare a cell's measured eager limit with the limits that its library reports.

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
    why = "" if limit else "another variable decides"
    return {"word": DIFFERS, "variable": variable, "reported": value, "why": why}


def changed(environment: str, limits: Mapping[str, Measure]) -> str | None:
    """Say whether the settings raise and lower an MPI's eager limit, and to how many bytes.

    `limits` has the limits in bytes, by setting.
    """
    own = limits.get(settings.DEFAULT)
    said = []
    for setting, verb in ((RAISED, "raise"), (LOWERED, "lower")):
        limit = limits.get(setting)
        if own and limit:
            above, below = (limit, own) if setting == RAISED else (own, limit)
            size = f"{limit.value:.0f} bytes"
            did = f"{verb}s the limit to {size}"
            didnt = f"does not {verb} the limit ({size})"
            said.append(f"{setting} {did if above.low > below.high else didnt}")
    if not said:
        return None
    return f"{environment}, by settings: the default is {own.value:.0f} bytes; {listed(said)}."


@dataclass(frozen=True)
class Limits:
    """Sentences on each MPI's eager limits, and a table of the limits that libraries report."""

    def cells(self, material: Material) -> dict[str, dict[tuple[str, str, str], Cell]]:
        """Return each MPI's cells, one for each combination of call, receiver and window flavor.

        Only cells that had a core for each rank are returned. The name of a setting other than the
        default setting is added to the MPI's name.
        """
        cores, _ = apart_by_cores(material, material.cells)
        found: dict[str, dict[tuple[str, str, str], Cell]] = {}
        for cell in cores:
            axes = tuple(cell.axis(name) for name in ("call", "receiver", "flavor"))
            found.setdefault(cell.mpi, {}).setdefault(axes, cell)  # type: ignore[arg-type]
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and a table, or nothing if no eager limit was measured."""
        material = apart(material)
        said: list[str] = []
        rows: list[dict[str, Any]] = []
        by_setting: dict[str, dict[str, Measure]] = {}
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
            note = no_limit(material, cell, limit)
            rows.append({"environment": name, "limit": limit, "every": note, **agrees})
            by_setting.setdefault(cell.environment, {})[cell.setting or settings.DEFAULT] = limit
        if not rows:
            return []
        columns = [
            Column("environment", "MPI", header=True),
            Column(
                *("limit", "limit here, bytes", numbers.exact_bytes, True),
                unit="count",
                note="every",
            ),
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
        said.extend(filter(None, (changed(*of_mpi) for of_mpi in by_setting.items())))
        return [Prose(TITLE, [*said, self._one_limit(material)]), table]

    def _sentence(
        self, material: Material, name: str, limits: Mapping[str, tuple[Cell, Measure]]
    ) -> str:
        words = {"in_mpi": "while the receiver is in MPI", "outside": "while it is outside"}
        said = []
        for receiver, where in words.items():
            if receiver in limits:
                cell, limit = limits[receiver]
                size = (
                    f"at every size, {limit.value:.0f} bytes at most"
                    if no_limit(material, cell, limit)
                    else (f"up to {limit.value:.0f} bytes" if limit.value else "at no size")
                )
                said.append(f"{size} {where}")
        return f"{name}: with no receive posted MPI_Send returns {', and '.join(said)}."

    def _one_limit(self, material: Material) -> str:
        """Say whether, in every launch, the calls returned early at all sizes below the limit."""
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


AT, ABOVE = "at_limit", "above_limit"
"""The words for two message sizes: the eager limit that the kernel finds, and 8 bytes more."""

SIZE_OR_LIMIT = Axis(
    SIZE.name, SIZE.title, {AT: "the MPI's eager limit", ABOVE: "8 bytes above it"}, whole=True
)

SOURCE_LIMIT, ABOVE_SOURCE = "4096", "4104"
"""The message sizes at the Redbook's eager limit, and 8 bytes above this limit."""

AROUND_TITLE = "Above the eager limit"


@dataclass(frozen=True)
class AroundLimit:
    """Sentences and a table: how much longer a message takes if it is larger than an eager limit.

    Two limits are used: the MPI's own limit, which the kernel finds in each launch, and the limit
    of the Redbook.

    Attributes:
        name: the name of the table and its CSV.
        metric: the name of a time in summary.parquet.
        way: returns in words a cell's way to communicate.
    """

    name: str
    metric: str
    way: Callable[[Cell], str]

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and the table; nothing if no message has the size of an eager limit."""
        material = apart(material)
        cells, _ = apart_by_cores(material, material.cells)
        groups = grouped(cells, lambda cell: (cell.environment, self.way(cell), cell.run_words))
        rows = [
            self._row(material, at, first_by(own, SIZE.name))
            for at, own in groups.items()
            if not all(map(has_size, own))
        ]
        if not rows:
            return []
        said = grouped(rows, lambda row: (row["environment"], row["where"]))
        return [
            Prose(AROUND_TITLE, [_words(*at, own) for at, own in said.items()]),
            self._table(material, rows),
        ]

    def _row(
        self, material: Material, at: tuple[str, str, str], cells: Mapping[str, Cell]
    ) -> dict[str, Any]:
        values = Values(material, self.metric)
        row: dict[str, Any] = dict(zip(("environment", "way", "where"), at, strict=True))
        pairs = {"own": (AT, ABOVE), "source": (SOURCE_LIMIT, ABOVE_SOURCE)}
        for name, (below, above) in pairs.items():
            both = below in cells and above in cells
            ratio = values.ratio(cells[above], cells[below]) if both else None
            row[name] = ratio or value_or_word(material, cells.get(above), "", "")
            for end, size in (("at", below), ("above", above)):
                row[f"{name}_{end}"] = values.of(cells[size]) if size in cells else None
        limited_by = cells.get(AT)
        row["limit"] = value_or_word(material, limited_by, USED_BYTES.name, values.statistic)
        is_known = isinstance(row["limit"], Measure)
        row["why"] = None if is_known or limited_by is None else limited_by.detail
        return row

    def _table(self, material: Material, rows: Sequence[Row]) -> Table:
        shown, beside = by_difference([WHERE], rows)
        times = [
            Column(f"{name}_{end}", f"{words}, {place}", numbers.seconds, measure=True, unit="s")
            for name, words in (("own", "the MPI's limit"), ("source", "4096 bytes"))
            for end, place in (("at", "at it"), ("above", "8 bytes above"))
        ]
        columns = [
            Column("environment", "MPI", header=True),
            Column("way", "way"),
            Column(
                "limit", "its limit, bytes", numbers.exact_bytes, True, unit="count", note="why"
            ),
            Column("own", "8 bytes above its limit", numbers.factor, measure=True),
            Column("source", "8 bytes above 4096", numbers.factor, measure=True),
            *shown,
        ]
        caption = (
            f"How many times as long 8 bytes more take, with the {material.interval_words}: above "
            "the MPI's own eager limit, which the kernel finds in each launch before it takes a "
            "time (in bytes, rounded down to a multiple of 8), and above the redbook's limit of "
            "4096 bytes. Only ranks with a core each."
        )
        return Table(self.name, caption, columns, rows, csv_only=[*times, *beside], form="cards")


def _words(name: str, where: str, rows: Sequence[Row]) -> str:
    """Say how much longer messages take above the MPI's own and above the Redbook's eager limit.

    If the MPI's own limit is not known, say why.
    """
    limits = [row["limit"].value for row in rows if isinstance(row["limit"], Measure)]
    source = _range([row["source"] for row in rows])
    beside = f"; 8 bytes above 4096 they take {source} as long" if source else ""
    if not limits:
        why = next((row["why"] for row in rows if row["why"]), "it was not measured")
        return f"{name} ({where}): {why}{beside}."
    own = _range([row["own"] for row in rows])
    least, most = (numbers.exact_bytes(end(limits)) for end in (min, max))
    limit = least if least == most else f"{least} to {most}"
    took = f"messages take {own} as long as at the limit" if own else "no time was measured"
    return f"{name} ({where}): 8 bytes above its eager limit of {limit} bytes {took}{beside}."


def _range(ratios: Iterable[Any]) -> str:
    """Return the range of some ratios in words; an empty text if there is no ratio."""
    known = sorted(ratio.value for ratio in ratios if isinstance(ratio, Measure))
    if not known:
        return ""
    least, most = numbers.factor(known[0]), numbers.factor(known[-1])
    return least if least == most else f"{least} to {most}"
