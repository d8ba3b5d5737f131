"""What containers share, and which binary ran where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import NATIVE
from onesided.report import numbers
from onesided.report.containers.twins import Document, Held, Material, Topic
from onesided.report.parts import Column, Table
from onesided.report.words import short_detail

# ---------------------------------------------------------------------- what the ranks share

_DIGITS = 12


def sharing_table(material: Material, topic: Topic, held: Held) -> Table:
    """Return what the headers say that the ranks of each environment share."""
    rows = []
    for native in dict.fromkeys(twin.native for twin in held.twins):
        beside = [twin for twin in held.twins if twin.native == native]
        rows += _sharing_rows(material, native, NATIVE, None)
        for twin in beside:
            rows += _sharing_rows(material, twin.name, twin.way, twin.document)
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("way", "launch"),
        Column("own", "namespaces of its own for each rank", prose=True),
        Column("shm", "/dev/shm"),
        Column("readv", "memory of another rank", prose=True),
        Column("container", "image"),
        Column("runtime", "runtime"),
        Column("launches", "launches", str),
    ]
    beside_columns = [
        Column(f"namespaces_{kind}", kind, str)
        for kind in dict.fromkeys(
            kind
            for one in material.campaign.record.get("launch_facts", [])
            for kind in one["namespaces"]
        )
    ]
    return Table(
        f"{topic.identifier}_sharing",
        "What the ranks were left with, as each of them found it. Where a rank may not read the "
        "memory of another, an MPI cannot copy large messages in one step.",
        columns,
        rows,
        csv_only=(*beside_columns, Column("commit", "commit"), Column("reason", "reason")),
        form="cards",
    )


def _sharing_rows(
    material: Material, environment: str, way: str, document: Document | None
) -> list[dict[str, Any]]:
    """Return a row for each way in which the launches of an environment found themselves."""
    container = document["container"] if document else {}
    fixed = {
        "environment": environment,
        "way": way,
        "runtime": container.get("runtime"),
        "commit": container.get("commit"),
        "reason": short_detail(material.documents.get(environment, {}).get("reason")),
    }
    found: dict[str, dict[str, Any]] = {}
    for facts in material.facts(environment):
        row = {
            **fixed,
            "own": _own_namespaces(facts["namespaces"]),
            "shm": _word(facts["dev_shm_shared"], "one for all", "several"),
            "readv": _word(facts["process_vm_readv"], "can be read", "cannot be read"),
            "container": facts["container"],
            **{f"namespaces_{kind}": number for kind, number in facts["namespaces"].items()},
        }
        kept = found.setdefault(repr(row), {**row, "launches": 0})
        kept["launches"] += facts["launches"]
    return list(found.values()) or [{**fixed, "container": container.get("image")}]


def _word(value: bool | None, yes: str, no: str) -> str | None:
    return None if value is None else yes if value else no


def _own_namespaces(found: Mapping[str, int | None]) -> str | None:
    """Return the kinds of namespaces the ranks do not share; ``none`` where they share all."""
    own = [kind for kind, number in found.items() if number is not None and number > 1]
    unknown = [kind for kind, number in found.items() if number is None]
    if len(unknown) == len(found):
        return None
    told = ", ".join(own) or "none"
    return f"{told}; not told: {', '.join(unknown)}" if unknown else told


# -------------------------------------------------------------------------------- the binary


def binaries_table(material: Material, held: Held) -> Table:
    """Return which binary ran on which library, and what it verified."""
    names = [*dict.fromkeys(twin.name for twin in held.twins)]
    native = list(dict.fromkeys(twin.native for twin in held.twins))
    rows = []
    for name in (*names, *native):
        kernels = dict.fromkeys(facts["kernel"] for facts in material.facts(name))
        for kernel in kernels:
            own = [facts for facts in material.facts(name) if facts["kernel"] == kernel]
            rows += [_binary_row(material, name, kernel, facts) for facts in _distinct(own)]
    rows.sort(key=lambda row: (row["kernel"], row["environment"] in native))
    kernels = dict.fromkeys(row["kernel"] for row in rows)
    said = [
        _one_binary(kernel, [r for r in rows if r["environment"] in names]) for kernel in kernels
    ]
    columns = [
        Column("kernel", "kernel", header=True),
        Column("environment", "MPI"),
        Column("digest", "SHA-256 begins"),
        Column("abi", "ABI"),
        Column("library_path", "library", prose=True),
        Column("checked", "values verified", str),
        Column("errors", "wrong", str),
    ]
    return Table(
        "abi_binaries",
        " ".join(["Which binary ran, and on which library.", *said]),
        columns,
        rows,
        csv_only=(
            Column("program_sha256", "SHA-256"),
            Column("library_version", "library, in its own words"),
            Column("launches", "launches", str),
        ),
        form="cards",
    )


def _distinct(facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the binaries and libraries of some launches, those alike together."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in facts:
        key = tuple(one[name] for name in ("program_sha256", "library_path", "abi"))
        kept = found.setdefault(key, {**one, "launches": 0})
        kept["launches"] += one["launches"]
    return list(found.values())


def _binary_row(
    material: Material, environment: str, kernel: str, facts: Mapping[str, Any]
) -> dict[str, Any]:
    cells = material.campaign.cells.filter(
        (pl.col("environment") == environment) & (pl.col("kernel") == kernel)
    )
    digest = facts["program_sha256"]
    return {
        "kernel": kernel.replace("_", " "),
        "environment": environment,
        "digest": digest[:_DIGITS] if digest else None,
        **{
            name: facts[name]
            for name in ("program_sha256", "abi", "library_path", "library_version", "launches")
        },
        "checked": int(cells["checked"].sum()),
        "errors": int(cells["errors"].sum()),
    }


def _one_binary(kernel: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say whether all environments of the image ran one binary of a kernel."""
    own = [row for row in rows if row["kernel"] == kernel]
    digests = {row["program_sha256"] for row in own}
    libraries = {row["library_path"] for row in own}
    if None in digests or not own:
        return f"{kernel}: not known whether it is one binary."
    if len(digests) > 1:
        return f"{kernel}: {len(digests)} binaries, so nothing is said of one."
    on = numbers.count(len(libraries), "library", "libraries")
    return f"{kernel}: one binary on {on}."
