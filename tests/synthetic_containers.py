"""Make a campaign of native environments and the same in containers, as `collect` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from synthetic_progress import Environment, Labels, allocate_and_flush, by_level, campaign, grid

KINDS = ("user", "mnt", "pid", "ipc", "net", "uts")
NATIVE = {"mpich-5.0.2": "mpich", "openmpi-5.0.11": "openmpi"}
HYBRID = "mpich-5.0.2-hybrid"
CONTAINED = "mpich-5.0.2-contained"
ABI = ("mpich-5.0.2-abi", "openmpi-5.0.11-abi")
HYBRID_FACTOR = 3.0
"""What every access takes longer in the hybrid model."""


def behaves_worse(at: Labels, setting: str = "default") -> str:
    """Wait where it was independent natively, for get alone."""
    return "waits" if at["operation"] == "get" else allocate_and_flush(at, setting)


def costs(factor: float):
    """Return latencies that are native ones times a factor."""
    return lambda at, setting, level: factor * by_level(at, setting, level)


ENVIRONMENTS = (
    Environment("mpich-5.0.2", "mpich", allocate_and_flush, by_level),
    Environment("openmpi-5.0.11", "openmpi", allocate_and_flush, by_level),
    Environment(CONTAINED, "mpich", allocate_and_flush, costs(1.0)),
    Environment(HYBRID, "mpich", behaves_worse, costs(HYBRID_FACTOR)),
    Environment(
        "openmpi-5.0.11-bind", "openmpi", allocate_and_flush, unavailable="no apptainer here"
    ),
    *(Environment(name, name.split("-")[0], allocate_and_flush, by_level) for name in ABI),
)
MODELS = {CONTAINED: "contained", HYBRID: "hybrid", "openmpi-5.0.11-bind": "bind"} | dict.fromkeys(
    ABI, "bind"
)


def container_of(name: str) -> dict[str, object] | None:
    """Return what the document of an environment says of its container."""
    if name not in MODELS:
        return None
    native = name.rpartition("-")[0]
    image = "abi" if name in ABI else NATIVE[native]
    return {
        "environment": native,
        "image": f"/images/{image}.sif",
        "image_name": image,
        "runtime": "apptainer version 1.4.5",
        "commit": "0123456789abcdef",
    }


def facts_of(name: str, digest: str = "ab" * 32) -> dict[str, object]:
    """Return what the headers of an environment's launches say."""
    container = container_of(name)
    apart = name == HYBRID
    own = ("user", "mnt") if apart else ()
    return {
        "environment": name,
        "system": "laptop",
        "partition": "node",
        "kernel": "progress",
        "launch_model": MODELS.get(name, "native"),
        "container": container["image"] if container else None,
        "namespaces": {kind: 2 if kind in own else 1 for kind in KINDS},
        "dev_shm_shared": True,
        "process_vm_readv": not apart,
        "program_sha256": digest if name in ABI else name.encode().hex().ljust(64, "0")[:64],
        "library_path": f"/opt/{name.removesuffix('-abi')}/lib/libmpi.so",
        "library_version": f"the words of {name}",
        "abi": "1.0" if name in ABI else None,
        "launches": 12,
    }


def containers(
    folder: Path,
    environments: Sequence[Environment] = ENVIRONMENTS,
    rounds: int = 8,
    changes: Mapping[str, Mapping[str, object]] | None = None,
    settings: Sequence[str] = ("default",),
) -> Path:
    """Write the campaign's files; return the folder.

    Args:
        folder: to write to.
        environments: in the campaign's order.
        rounds: of the campaign.
        changes: to what the headers of an environment say.
        settings: of the campaign.
    """
    cells = [*grid(), *grid(synchronisations=("lock_all_flush",), states=("idle",))]
    campaign(folder, environments, cells, settings=settings, rounds=rounds)
    models = pl.col("environment").replace_strict(MODELS, default="native")
    path = folder / "cells.parquet"
    pl.read_parquet(path).with_columns(launch_model=models).write_parquet(path)
    record = json.loads((folder / "campaign.json").read_text("utf-8"))
    for document in record["environments"]:
        document["launch_model"] = MODELS.get(document["name"], "native")
        document["container"] = container_of(document["name"])
    record["launch_facts"] = [
        facts_of(one.name) | dict((changes or {}).get(one.name, {}))
        for one in environments
        if one.unavailable is None
    ]
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    return folder


if __name__ == "__main__":
    import sys

    containers(Path(sys.argv[1]))
