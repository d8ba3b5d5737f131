"""Check whether a setting took effect: did launches use the transport that the setting asks for?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.environments import settings, transport

PROGRESS_THREAD = "progress_thread"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class SettingCheck:
    """Differences between a cell's launches and the cell's setting, and unknown attributes."""

    differences: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """Return a remark on a cell if its transport is not fully known, else None."""
        if not self.unknown:
            return None
        return f"transport not proven: {', '.join(self.unknown)} not known"


def asked_transport(record: Mapping[str, Any], row: Row) -> Mapping[str, Any]:
    """Return the transport that the setting of a cell asks for, from a campaign's record."""
    by_environment = record.get("settings", {}).get(row["setting"], {})
    return by_environment.get(row["environment"], {}).get("transport", {})


MACHINE = ("system", "partition", "environment", "thread_level", "ranks", "placement")
"""The columns that determine, with the setting, the number of threads after MPI_Init."""


def _machine(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in MACHINE)


def default_threads(cells: pl.LazyFrame) -> dict[tuple[Any, ...], int]:
    """Return the largest number of threads of a rank after MPI_Init at the default setting."""
    known = cells.filter(
        pl.col("setting") == settings.DEFAULT, pl.col("threads_after_init").is_not_null()
    )
    most = known.group_by(MACHINE).agg(pl.col("threads_after_init").max()).collect()
    return {tuple(machine): threads for *machine, threads in most.iter_rows()}


def check(
    rows: Sequence[Row],
    asked: Mapping[str, Any],
    threads: Mapping[tuple[Any, ...], int],
) -> SettingCheck:
    """Compare the transport of a cell's launches with the transport that its setting asks for.

    `rows` are the launches that count. `asked` has fields of a transport, with the value that each
    field must have; ``progress_thread`` asks for more threads after MPI_Init than without a
    setting. `threads` is the result of `default_threads`.
    """
    if not asked:
        return SettingCheck()
    of_window = {name: value for name, value in asked.items() if name != PROGRESS_THREAD}
    differences: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for row in rows:
        found = transport.from_text(row["transport"])
        differ, missing = transport.differences(of_window, found)
        differences |= dict.fromkeys(differ)
        unknown |= dict.fromkeys(missing)
        if PROGRESS_THREAD in asked:
            own, other = row["threads_after_init"], threads.get(_machine(row))
            if own is None or other is None:
                unknown[PROGRESS_THREAD] = None
            elif own <= other:
                differences[
                    f"a progress thread asked for, as many threads as without it: {own}"
                ] = None
    return SettingCheck(tuple(differences), tuple(unknown))
