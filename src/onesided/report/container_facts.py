"""Facts from the headers of launches in containers: what the ranks share, which binary ran."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import NATIVE, CollectedCampaign
from onesided.report import numbers
from onesided.report.pairs import columns
from onesided.report.parts import Column, Table
from onesided.report.words import short_detail

Facts = Mapping[str, Any]

_DIGITS = 12
"""A page shows this number of digits of a SHA-256."""


@dataclass(frozen=True)
class Contained:
    """An environment in a container; it is compared with the native environment of the same MPI.

    Attributes:
        native: the native environment's name.
        document: the document of the environment in the container.
        way: how the environment was launched, in words. The image is named if two ways differ only
            in the image.
    """

    native: str
    document: Mapping[str, Any]
    way: str

    @property
    def name(self) -> str:
        """Return the name of the environment in the container."""
        return str(self.document["name"])


def _facts(campaign: CollectedCampaign, environment: str) -> list[Facts]:
    """Return the facts in the headers of an environment's launches. Equal headers share a row."""
    known = campaign.record.get("launch_facts", [])
    return [one for one in known if one["environment"] == environment]


def _counted(rows: Iterable[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """Merge rows that have equal values in the given keys; add up the launches of merged rows."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        alike = repr([row.get(key) for key in keys])
        kept = found.setdefault(alike, {**row, "launches": 0})
        kept["launches"] += row["launches"]
    return list(found.values())


# ---------------------------------------------------------------------- what the ranks share


def sharing_table(
    campaign: CollectedCampaign, environments: Sequence[Contained], topic: str
) -> Table:
    """Return the table of what an environment's ranks share, from the headers of its launches.

    The table also has the native environments. `topic` is the identifier of the question.
    """
    kinds = dict.fromkeys(
        kind for one in campaign.record.get("launch_facts", []) for kind in one["namespaces"]
    )
    rows = []
    for native in dict.fromkeys(one.native for one in environments):
        rows += _sharing_rows(campaign, native, NATIVE, {})
        for one in environments:
            if one.native == native:
                rows += _sharing_rows(campaign, one.name, one.way, one.document["container"])
    return Table(
        f"{topic}_sharing",
        "What each rank found in its container. If a rank may not read the memory of another rank, "
        "an MPI cannot copy large messages in one step.",
        columns(
            Column("environment", "MPI", header=True, note="reason"),
            Column("way", "launch"),
            Column("own", "namespaces of its own for each rank", prose=True),
            Column("shm", "/dev/shm"),
            Column("readv", "memory of another rank", prose=True),
            Column("container", "image"),
            "runtime",
            Column("launches", "launches", str),
        ),
        rows,
        csv_only=(
            *(Column(f"namespaces_{kind}", kind, str) for kind in kinds),
            *columns("commit", "reason"),
        ),
        form="cards",
    )


def _sharing_rows(
    campaign: CollectedCampaign, environment: str, way: str, container: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the facts of an environment's launches; launches with equal facts share a row."""
    documents = campaign.record.get("environments", [])
    reasons = [one.get("reason") for one in documents if one["name"] == environment]
    fixed = {
        "environment": environment,
        "way": way,
        "runtime": container.get("runtime"),
        "commit": container.get("commit"),
        "reason": short_detail(reasons[-1] if reasons else None),
    }
    rows = [
        {
            **fixed,
            "own": _own_namespaces(facts["namespaces"]),
            "shm": _word(facts["dev_shm_shared"], "one for all", "several"),
            "readv": _word(facts["process_vm_readv"], "can be read", "cannot be read"),
            "container": facts["container"],
            **{f"namespaces_{kind}": number for kind, number in facts["namespaces"].items()},
            "launches": facts["launches"],
        }
        for facts in _facts(campaign, environment)
    ]
    differ = {key for row in rows for key in row} - {"launches"}
    return _counted(rows, *sorted(differ)) or [{**fixed, "container": container.get("image")}]


def _word(value: bool | None, yes: str, no: str) -> str | None:
    return None if value is None else yes if value else no


def _own_namespaces(found: Mapping[str, int | None]) -> str | None:
    """Return the kinds of namespaces that the ranks do not share; ``none`` if they share all."""
    own = [kind for kind, number in found.items() if number is not None and number > 1]
    unknown = [kind for kind, number in found.items() if number is None]
    if len(unknown) == len(found):
        return None
    told = ", ".join(own) or "none"
    return f"{told}; not told: {', '.join(unknown)}" if unknown else told


# -------------------------------------------------------------------------------- the binary


def binaries_table(campaign: CollectedCampaign, environments: Sequence[Contained]) -> Table:
    """Return the table of binaries: their libraries, and how many values they verified."""
    names = list(dict.fromkeys(one.name for one in environments))
    native = list(dict.fromkeys(one.native for one in environments))
    rows = [
        _binary_row(campaign, facts)
        for name in (*names, *native)
        for facts in _counted(
            map(dict, _facts(campaign, name)), "kernel", "program_sha256", "library_path", "abi"
        )
    ]
    rows.sort(key=lambda row: (row["kernel"], row["environment"] in native))
    said = [
        _one_binary(kernel, [row for row in rows if row["environment"] in names])
        for kernel in dict.fromkeys(row["kernel"] for row in rows)
    ]
    return Table(
        "abi_binaries",
        " ".join(["Which binary ran, and on which library.", *said]),
        columns(
            Column("kernel", "kernel", header=True),
            Column("environment", "MPI"),
            Column("digest", "SHA-256 begins"),
            Column("abi", "ABI"),
            Column("library_path", "library", prose=True),
            Column("checked", "values verified", str),
            Column("errors", "wrong", str),
        ),
        rows,
        csv_only=(
            Column("program_sha256", "SHA-256"),
            Column("library_version", "library, in its own words"),
            Column("launches", "launches", str),
        ),
        form="cards",
    )


def _binary_row(campaign: CollectedCampaign, facts: Facts) -> dict[str, Any]:
    cells = campaign.cells.filter(
        (pl.col("environment") == facts["environment"]) & (pl.col("kernel") == facts["kernel"])
    )
    digest = facts["program_sha256"]
    return {
        **facts,
        "kernel": facts["kernel"].replace("_", " "),
        "digest": digest[:_DIGITS] if digest else None,
        "checked": int(cells["checked"].sum()),
        "errors": int(cells["errors"].sum()),
    }


def _one_binary(kernel: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say whether all environments with the image ran the same binary of a kernel."""
    own = [row for row in rows if row["kernel"] == kernel]
    digests = {row["program_sha256"] for row in own}
    libraries = {row["library_path"] for row in own}
    if None in digests or not own:
        return f"{kernel}: not known whether it is one binary."
    if len(digests) > 1:
        return f"{kernel}: {len(digests)} binaries, so none is named."
    on = numbers.count(len(libraries), "library", "libraries")
    return f"{kernel}: one binary on {on}."
