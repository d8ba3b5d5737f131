"""Made-up cells, and the advice on them."""

from __future__ import annotations

from types import SimpleNamespace

from onesided.measure.latencies import met_of
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.studies.stfc.progress.recommend import Advice

FACTS = {"library": "MPICH 5.0.2", "campaign": "quick", "commit": "0123", "where": "here"}
PLACE = {"system": "laptop", "partition": "node", "environment": "one"}
EXAMPLE = "# In C: rank 1 accesses rank 0"
CODE = "#    "


def entry(
    verdict="independent",
    operation="put",
    flavor="allocate",
    synchronisation="lock_all_flush",
    level="single",
    setting="default",
    state="computes",
    size=8,
    valid=6,
    **others,
):
    labels = {
        "operation": operation,
        "flavor": flavor,
        "synchronisation": synchronisation,
        "data": "contiguous",
        "size_bytes": str(size),
        "target_state": state,
        "probe_interval_us": "100",
    }
    return {
        **PLACE,
        "test": f"Progress %setting={setting} %thread_level={level}",
        "thread_level": level,
        "setting": setting,
        "ranks": 2,
        "placement": "unbound",
        "launch_model": "native",
        "kernel": "progress",
        "cell": ",".join(f"{axis}={value}" for axis, value in labels.items()),
        "labels": labels,
        "verdict": verdict,
        "detail": None,
        "launches": 6,
        "valid_launches": valid,
        "early_fractions": [],
        "tau_s": 0.002 if verdict == "delayed" else None,
        "oversubscribed": False,
        **others,
    }


def latency(of, value, launches=6):
    names = ("system", "partition", "environment", "test", "cell")
    return {
        **{name: of[name] for name in names},
        "metric": "latency",
        "statistic": "median",
        "value": value,
        "low": value * 0.9,
        "high": value * 1.1,
        "coverage": 0.97,
        "kind": "interval",
        "launches": launches,
    }


def advise(entries, rows, mpi=("mpich", "5.0.2")):
    """Return the advice on entries of verdicts.json, with rows of the summary."""
    cells = [Cell(one) for one in entries]
    measures = {
        (row["test"], row["cell"]): Measure.of(row) for row in rows if row["metric"] == "latency"
    }
    family, version = mpi
    document = {"name": "one", "family": family, "version": version}
    material = SimpleNamespace(
        measure=lambda cell, *_: measures.get((cell.test, cell.cell)),
        met=met_of(rows),
        campaign=SimpleNamespace(record={"environments": [document]}),
    )
    return Advice(material, "one", cells)


def advised(*timed, mpi=("mpich", "5.0.2")):
    """Return the advice on entries, each given alone or with its latency in seconds."""
    pairs = [found if isinstance(found, tuple) else (found, 1e-7) for found in timed]
    rows = [latency(*pair) for pair in pairs if pair[1] is not None]
    return advise([found for found, _ in pairs], rows, mpi)


def only_choice(found):
    (choice,) = found.choices
    return choice


COMMON = entry("waits", flavor="create", synchronisation="lock_exclusive")


def helped(before, **after):
    """Return a cell that waits and its twin with the setting async_thread."""
    return before, {
        **before,
        "setting": "async_thread",
        "test": "Progress %setting=async_thread %thread_level=single",
        "verdict": "delayed",
        "tau_s": 0.002,
        **after,
    }
