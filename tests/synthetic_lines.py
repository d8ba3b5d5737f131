"""Lines of a launch as a kernel writes them, for tests of the code that reads them."""

CELLS = ["c=1", "c=2", "c=3"]


def header(**changes):
    return {
        "type": "header",
        "schema": "onesided/line/2",
        "kernel": "shared_counter",
        "source_state": "abc",
        "started_at": "2026-01-01T00:00:00Z",
        "parameters": {"asked": [], "resolved": {}},
        "labels": {},
        "cells": CELLS,
        "mpi": {
            "standard": "MPI",
            "library_version": "MPICH Version:      5.0.2",
            "standard_version": "4.1",
            "abi": None,
            "library_path": None,
        },
        "thread_level": {"required": "single", "provided": "single"},
        "ranks": 2,
        "processes": [
            {"rank": rank, "host": "h", "pid": 1, "cpus": [0, 1], "local_rank": rank}
            for rank in range(changes.get("ranks", 2))
        ],
        "cores": 2,
        "oversubscribed": False,
        "placement": {"asked": "unbound", "found": "unbound"},
        "threads_after_init": 1,
        "process_vm_readv": True,
        "namespaces": dict.fromkeys(("user", "mnt", "pid", "ipc", "net", "uts"), 1),
        "dev_shm_shared": True,
        "program_sha256": "0" * 64,
        "container": None,
        "environment": {},
        "clock": {
            "name": "CLOCK_MONOTONIC",
            "resolution_s": 1e-9,
            "overhead_s": 2e-8,
            "global": True,
        },
        "scheduler_tick_hz": 250,
        "compute": {"iterations_per_second": [1e9, 1e9]},
        "launch_model": "native",
        **changes,
    }


def _index(cell):
    return CELLS.index(cell) if cell in CELLS else 0


def started(cell, index=None):
    return {"type": "started", "cell": cell, "index": _index(cell) if index is None else index}


def result(cell, status="ok", detail=None):
    return {
        "type": "result",
        "cell": cell,
        "index": _index(cell),
        "labels": {"c": cell.partition("=")[2]},
        "status": status,
        "detail": detail,
        "window": {"model": "unified", "flavor": "create", "size_bytes": 8, "info": {}},
        "oversubscribed": False,
        "elapsed_s": 0.1,
        "series": [
            {
                "metric": "access",
                "unit": "s",
                "rank": 1,
                "burst": 1,
                "dropped": 0,
                "samples": [1e-6, 2e-6],
            }
        ],
        "verification": [{"name": "sequence", "checked": 2, "errors": 0, "first_mismatch": None}],
    }


def further(cell, samples=(3e-6,), status="ok", detail=None, metric="access"):
    series = {"metric": metric, "unit": "s", "rank": 1, "burst": 1, "dropped": 1}
    verification = {"name": "sequence", "checked": 1, "errors": 0, "first_mismatch": None}
    return {
        "type": "further", "cell": cell, "index": _index(cell), "status": status, "detail": detail,
        "series": [{**series, "samples": list(samples)}], "verification": [verification],
    }  # fmt: skip


def samples_of(result, metric, ranks="all"):
    """Return the samples of a metric in a result line; "origins" means all ranks but rank 0."""
    return [
        sample
        for series in result["series"]
        if series["metric"] == metric and (ranks == "all" or series["rank"] != 0)
        for sample in series["samples"]
    ]
