"""The origin of a report: its environments, its campaign, and where the time went."""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from onesided.campaign.records import DAMAGED
from onesided.campaign.tables import PLACE
from onesided.environments import transport
from onesided.environments.settings import DEFAULT
from onesided.measure.further_rounds import line
from onesided.measure.statistics import MINIMUM_COVERAGE
from onesided.report import numbers, scope
from onesided.report.material import Loaded, interval_words, usual_launches
from onesided.report.numbers import Written
from onesided.report.parts import Column, Row, Section, Table
from onesided.report.words import short_detail

SEEN = (
    *PLACE,
    "setting",
    "labels",
    "thread_level",
    "placement",
    "launch_model",
    "library_version",
    "thread_provided",
    "clock_global",
    "oversubscribed",
    "transport",
    "host",
)
"""The columns of cells.parquet with facts that were found out when the cells were run."""
UNKNOWN = "unknown"
NOT_RECORDED = "not recorded"
"""The words in place of a fact that a launch could not find out (`UNKNOWN`), or that an earlier
version of onesided did not look for (`NOT_RECORDED`)."""


def _seen(table: pl.DataFrame, environment: str, column: str) -> str | None:
    values = table.filter(pl.col("environment") == environment)[column].drop_nulls().unique()
    return "; ".join(str(value) for value in values.sort()) or None


def _environments_table(loaded: Loaded) -> Table:
    cells = loaded.campaign.read_cells(*SEEN)
    record = {doc.get("name"): doc for doc in loaded.campaign.record.get("environments", [])}
    names = list(dict.fromkeys([*record, *(cell.environment for cell in loaded.cells)]))
    rows = []
    for name in names:
        document = record.get(name, {})
        rows.append(
            {
                "environment": name,
                "status": document.get("status"),
                "library": _seen(cells, name, "library_version") or document.get("library_version"),
                "standard": document.get("standard_version"),
                "abi": document.get("abi"),
                "provider": document.get("provider"),
                "required": _seen(cells, name, "thread_level"),
                "provided": _seen(cells, name, "thread_provided"),
                "placement": _seen(cells, name, "placement"),
                "launch_model": _seen(cells, name, "launch_model"),
                **_share_of(cells, name, "oversubscribed", "oversubscribed", pl.Expr.any),
                **_share_of(cells, name, "clock_global", "one_clock", pl.Expr.all),
                "variables": _variables_of(document),
                "transport": _transports_seen(cells, name),
                "host": _seen(cells, name, "host"),
                **_software(loaded, name),
                "reason": short_detail(document.get("reason")),
            }
        )
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("library", "library, in its own words", prose=True),
        Column("standard", "standard"),
        Column("abi", "ABI"),
        Column("provider", "from"),
        Column("required", "level required"),
        Column("provided", "level provided"),
        Column("placement", "placement"),
        Column("launch_model", "launch"),
        Column("oversubscribed_shown", "cells over-subscribed", page_only=True),
        Column("one_clock_shown", "cells on one clock", page_only=True),
        Column("variables", "variables of the environment", prose=True),
        Column("transport", "transport, in its own words", prose=True),
        Column("host", "host"),
        Column("processor", "processor"),
        Column("compiler", "kernels compiled by"),
        Column("flags", "compiler's flags"),
        Column("ucx", "UCX"),
        Column("libfabric", "libfabric"),
    ]
    return Table(
        "environments",
        "The environments, as found by the runs themselves.",
        columns,
        rows,
        csv_only=(
            Column("oversubscribed", "share of cells over-subscribed"),
            Column("one_clock", "share of cells on one clock"),
            Column("status", "status"),
            Column("reason", "reason"),
        ),
        form="tiles",
    )


def _variables_of(document: Mapping[str, Any]) -> str | None:
    """Return the variables that an environment sets. Folders of libraries are shortened."""
    prefix = str(document.get("prefix") or "")
    found = [f"{name}={value}" for name, value in (document.get("variables") or {}).items()]
    return " ".join(one.replace(prefix, "…") if prefix else one for one in sorted(found)) or None


def _software(loaded: Loaded, environment: str) -> dict[str, str]:
    """Return compiler, processor and libraries of an environment, as its launches reported them.

    Launches of earlier versions of onesided did not report compiler, processor and libraries.
    """
    every = loaded.campaign.record.get("launch_facts", [])
    facts = [launch for launch in every if launch["environment"] == environment]
    builds = [launch["build"] for launch in facts if "build" in launch]
    libraries = [
        launch["transport_libraries"] for launch in facts if "transport_libraries" in launch
    ]
    processors = [launch["processors"] or [None] for launch in facts if "processors" in launch]
    return {
        "processor": _told(itertools.chain.from_iterable(processors)),
        "compiler": _told(build["compiler"] for build in builds),
        "flags": _told(build["flags"] for build in builds),
        "ucx": _told(versions["ucx"] for versions in libraries),
        "libfabric": _told(versions["libfabric"] for versions in libraries),
    }


def _told(values: Iterable[str | None]) -> str:
    """Return a text with each of the given values once; None stands for an unknown fact."""
    return "; ".join(sorted({value or UNKNOWN for value in values})) or NOT_RECORDED


def _transports_seen(table: pl.DataFrame, environment: str) -> str | None:
    """Return, for each window flavor, the transport at the MPI's default setting.

    Flavors that have the same transport are named together.
    """
    rows = table.filter(
        (pl.col("environment") == environment)
        & (pl.col("setting") == DEFAULT)
        & pl.col("transport").is_not_null()
    )
    flavors: dict[str, set[str]] = {}
    for text, labels in rows.select("transport", "labels").unique(maintain_order=True).iter_rows():
        words = transport.short(transport.from_text(text))
        if words:
            flavors.setdefault(words, set()).add(str(json.loads(labels).get("flavor")))
    told = [f"{', '.join(sorted(names))}: {words}" for words, names in flavors.items()]
    return "; ".join(sorted(told)) or None


def _share_of(
    cells: pl.DataFrame,
    environment: str,
    column: str,
    key: str,
    of_a_cell: Callable[[pl.Expr], pl.Expr],
) -> dict[str, object]:
    """Return the share of cells for which a fact is true, as a number and as text for the page.

    The column `column` says for each launch whether the fact is true, false or unknown. `key` is
    the key of the share in the row. `of_a_cell` makes one fact from the facts of a cell's launches:
    whether any fact is true, or whether all are.
    """
    own = cells.filter(pl.col("environment") == environment, pl.col(column).is_not_null())
    known = own.group_by(PLACE).agg(of_a_cell(pl.col(column)))[column]
    if not known.len():
        return {key: None}
    count = int(known.sum())
    return {key: count / known.len(), f"{key}_shown": f"{count} of {known.len()}"}


def timing_lines(loaded: Loaded) -> list[tuple[str, Written | str]]:
    """Return how the campaign spent its time: for each activity, the time in s."""
    timing = loaded.campaign.record.get("timing") or {}
    wall, inside = timing.get("wall_s"), timing.get("inside_launches_s")
    lines = [("wall time", _duration(wall))]
    if wall is not None and inside is not None:
        part = numbers.share(inside, wall)
        lines.append(("inside launches", _duration(inside, f" ({part})")))
    for name, seconds in (timing.get("parts") or {}).items():
        lines.append((str(name), _duration(seconds)))
    return lines


def _duration(seconds: float | None, more: str = "") -> Written | str:
    words = numbers.duration(seconds) + more
    return words if seconds is None else Written(seconds, words)


def further_rounds(loaded: Loaded) -> str | None:
    """Return how many cells had further rounds, and why.

    The result is None if the campaign asks for no further rounds.
    """
    rounds = loaded.campaign.record.get("rounds", 0)
    ended = [cell.entry for cell in loaded.cells if getattr(cell, "end", None)]
    return line(ended, rounds)


def damaged_files(loaded: Loaded) -> str | None:
    """Say which launches do not count because of a damaged file; None if no file is damaged."""
    details = loaded.campaign.read_cells("detail")["detail"].drop_nulls()
    found = details.filter(details.str.starts_with(DAMAGED))
    if not found.len():
        return None
    places = [detail.removeprefix(f"{DAMAGED} ") for detail in found.unique(maintain_order=True)]
    count = numbers.count(found.len(), "launch of a cell", "launches of cells")
    more = f", and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{count} not counted: {places[0]}{more}"


def _facts(loaded: Loaded) -> list[tuple[str, str | Written]]:
    campaign = loaded.campaign
    started = campaign.started
    host = campaign.record.get("host") or {}
    count = campaign.sample_count
    samples = Written(count, f"{count:,}".replace(",", numbers.THIN_SPACE))
    facts: list[tuple[str, str | Written]] = [
        ("campaign", campaign.name),
        ("rounds", str(campaign.record.get("rounds", "not known"))),
        *([("further rounds", said)] if (said := further_rounds(loaded)) else []),
        *([("damaged files", said)] if (said := damaged_files(loaded)) else []),
        ("launches", str(campaign.launches.height)),
        ("samples", samples),
    ]
    if started:
        facts += [("first launch", started[0]), ("last launch", started[-1])]
    if names := scope.cleared(campaign.record):
        facts.append(("variables of the shell, cleared", ", ".join(names)))
    words = scope.foreign_words(campaign.record)
    facts.append(("variables that no setting names", words or "none"))
    facts.append(("commit", str(campaign.record.get("commit") or "not known")))
    told = {**host, **({"cores": words} if (words := scope.cores(host)) else {})}
    told.pop("usable_cores", None)  # the sentence on cores has both numbers
    facts += [(f"host: {key}".replace("_", " "), str(value)) for key, value in told.items()]
    return facts


def _facts_table(loaded: Loaded) -> Table:
    rows: list[Row] = [{"what": what, "found": found} for what, found in _facts(loaded)]
    for what, found in timing_lines(loaded):
        rows.append({"what": what, "found": found, "unit": "s"})
    columns = [Column("what", "what", header=True), Column("found", "found", prose=True)]
    unit = [Column("unit", "unit of a number, if it has one")]
    return Table("provenance", "The campaign.", columns, rows, csv_only=unit)


def _interval_lead(loaded: Loaded) -> str:
    words = interval_words(loaded.summary, loaded.campaign.record)
    if usual_launches(loaded.summary, loaded.campaign.record) == 1:
        return "A value is of one launch, so there is no interval beside it."
    return (
        "A value is the median over launches; the two numbers with it are the "
        f"{words}. From six launches on they are order statistics that cover the median with at "
        f"least {100 * MINIMUM_COVERAGE:.0f}{numbers.THIN_SPACE}% (smallest and largest of six: "
        f"96.9{numbers.THIN_SPACE}%); with fewer they are the range and are called so."
    )


def section(loaded: Loaded) -> Section:
    """Return the section on the origin of the report; every report ends with this section."""
    tables = (_environments_table(loaded), _facts_table(loaded))
    return Section("provenance", "Where this comes from", _interval_lead(loaded), tables)
