"""The page of a pattern, from the table of the source and the claims: the rest all have alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onesided.report.claims import Claim, Claims
from onesided.report.page import Content, ReferencePage
from onesided.report.published import PublishedRows, PublishedSeries, PublishedTable
from onesided.studies.luecke.drawn import ByRanks, BySize
from onesided.studies.luecke.ratios import Ratios
from onesided.studies.luecke.today import TodayByRanks, TodayBySize
from onesided.studies.parts.waits import Waits

SOURCE = "Luecke et al."
PROCESSORS = (16, 32, 64, 128, 256)
SERIES_BY_SIZE = ("origin_shmem_ms", "origin_mpi2_ms", "t3e_shmem_ms", "t3e_mpi2_ms")


def claim(section: str, words: str, test: object) -> Claim:
    """Return a claim of the source, with its section."""
    return Claim(f"{SOURCE}, section {section}", words, test)  # type: ignore[arg-type]


def by_ranks(
    kernel: str,
    number: int,
    unit: str,
    claims: Sequence[Claim],
    *,
    title: str,
    lead: str,
    who: str,
    mpi: Mapping[str, Mapping[str, str]] | None = None,
) -> ReferencePage:
    """Return the page of a pattern whose table has a column for each number of ranks.

    Args:
        kernel: of the pattern.
        number: of the source's table.
        unit: of its numbers.
        claims: of the source.
        title: of the section.
        lead: what a reader has to know.
        who: which rank computes where one does, a sentence.
        mpi: what the source calls its MPI rows (see `Ratios`).
    """
    table = PublishedTable(f"luecke_table{number}", form="cards")
    curves = PublishedRows(table, "series", {f"pe{one}_{unit}": one for one in PROCESSORS})
    contents: list[Content] = [
        table,
        TodayByRanks(f"luecke_table{number}_measured"),
        Ratios(curves, mpi or {"MPI-2": {}}),
        ByRanks(kernel, curves),
        BySize(kernel),
        Claims(f"{kernel}_claims", claims),
        Waits(kernel, who),
    ]
    return ReferencePage(kernel.replace("_", "-"), title, lead, contents)


def by_size(
    kernel: str, number: int, claims: Sequence[Claim], *, title: str, lead: str, who: str
) -> ReferencePage:
    """Return the page of a pattern whose table has a row for each size (see `by_ranks`)."""
    table = PublishedTable(f"luecke_table{number}", form="cards")
    curves = PublishedSeries(table, "size_bytes", SERIES_BY_SIZE)
    contents: list[Content] = [
        table,
        TodayBySize(f"luecke_table{number}_measured", table),
        Ratios(curves, by_size=True),
        BySize(kernel, curves),
        Claims(f"{kernel}_claims", claims),
        Waits(kernel, who),
    ]
    return ReferencePage(kernel.replace("_", "-"), title, lead, contents)
