"""Native environments and the same environments in containers."""

import json

import polars as pl

from made_up import generator as make
from made_up.progress import Environment, allocate_and_flush, by_level, campaign, grid

KINDS = ("user", "mnt", "pid", "ipc", "net", "uts")
NATIVE = (make.MPICH, make.OPENMPI)
HYBRID = f"{make.MPICH}-hybrid"
CONTAINED = f"{make.MPICH}-contained"
BIND = f"{make.OPENMPI}-bind"
ABI = (f"{make.MPICH}-abi", f"{make.OPENMPI}-abi")
HYBRID_FACTOR = 3.0
"""The additional time of every access in the hybrid model."""
MODELS = {CONTAINED: "contained", HYBRID: "hybrid", BIND: "bind"} | dict.fromkeys(ABI, "bind")


def behaves_worse(at, setting="default"):
    """Wait with get only; natively, get was independent."""
    return "waits" if at["operation"] == "get" else allocate_and_flush(at, setting)


def slower(at, setting, level):
    return HYBRID_FACTOR * by_level(at, setting, level)


ENVIRONMENTS = (
    *(
        Environment(name, name.partition("-")[0], allocate_and_flush, by_level)
        for name in (*NATIVE, CONTAINED)
    ),
    Environment(HYBRID, "mpich", behaves_worse, slower),
    Environment(BIND, "openmpi", allocate_and_flush, unavailable="no apptainer here"),
    *(Environment(name, name.partition("-")[0], allocate_and_flush, by_level) for name in ABI),
)


def container_of(name):
    """Return the facts about its container in an environment's document."""
    if name not in MODELS:
        return None
    native = name.rpartition("-")[0]
    image = "abi" if name in ABI else native.partition("-")[0]
    return {
        "environment": native,
        "image": f"/images/{image}.sif",
        "image_name": image,
        "runtime": "apptainer version 1.4.5",
        "commit": "0123456789abcdef",
    }


def facts_of(name):
    """Return the facts in the headers of an environment's launches."""
    container = container_of(name)
    own = ("user", "mnt") if name == HYBRID else ()
    digest = "ab" * 32 if name in ABI else name.encode().hex().ljust(64, "0")[:64]
    return {
        "environment": name,
        "system": "laptop",
        "partition": "node",
        "kernel": "progress",
        "launch_model": MODELS.get(name, "native"),
        "container": container["image"] if container else None,
        "namespaces": {kind: 2 if kind in own else 1 for kind in KINDS},
        "dev_shm_shared": True,
        "process_vm_readv": name != HYBRID,
        "program_sha256": digest,
        "library_path": f"/opt/{name.removesuffix('-abi')}/lib/libmpi.so",
        "library_version": f"the words of {name}",
        "abi": "1.0" if name in ABI else None,
        "launches": 12,
    }


def containers(folder, environments=ENVIRONMENTS, rounds=8, changes=None, settings=("default",)):
    """Write the campaign; `changes` are changes of the headers of an environment."""
    cells = [*grid(), *grid(synchronisations="lock_all_flush", states="idle")]
    campaign(folder, environments, cells, settings=settings, levels=("single",), rounds=rounds)
    models = pl.col("environment").replace_strict(MODELS, default="native")
    path = folder / "cells.parquet"
    pl.read_parquet(path).with_columns(launch_model=models).write_parquet(path)
    record = json.loads((folder / "campaign.json").read_text("utf-8"))
    for document in record["environments"]:
        document["launch_model"] = MODELS.get(document["name"], "native")
        document["container"] = container_of(document["name"])
    record["launch_facts"] = [
        facts_of(one.name) | (changes or {}).get(one.name, {})
        for one in environments
        if one.unavailable is None
    ]
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    return folder
