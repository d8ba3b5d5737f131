"""Launches of a kernel on hosts of this machine, with a delay that a test chooses."""

import json
import subprocess
import sys

from onesided.environments import kernels

WIRE = [sys.executable, "-P", "-m", "onesided.cli", "wire"]
TIMEOUT_S = 120


def times_of(output, axes, hosts):
    """Return the least times of each cell's series, by axis values, in seconds."""
    lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert [process["host"] for process in lines[0]["processes"]] == hosts
    results = [line for line in lines if line["type"] == "result"]
    assert {line["status"] for line in results} == {"ok"}
    return {
        tuple(line["labels"][axis] for axis in axes): {
            series["metric"]: min(series["samples"]) for series in line["series"]
        }
        for line in results
    }


def launch(
    document,
    folder,
    delay_us,
    wire_us,
    variables,
    cells,
    axes=("operation", "synchronisation"),
    hosts=("h1", "h2"),
    name="round_trips",
):
    """Launch a kernel on hosts; return the times.

    The kernel is told the delay `delay_us`, or no delay if it is None; the wire has the delay
    `wire_us`.
    """
    told = [] if delay_us is None else ["--delay_us", str(delay_us)]
    own = document["launcher"]
    kernel = kernels.build(document, [name]) / "bin" / name
    output = folder / f"{len(list(folder.iterdir()))}.jsonl"
    answer = subprocess.run(
        [
            *(*WIRE, f"--family={document['family']}", f"--delay-us={wire_us}"),
            *(f"--hosts={len({*hosts})}", f"--ranks-per-host={hosts.count('h1')}", "--"),
            *(own["path"], "-n", str(len(hosts)), *own["placement"]["unbound"], str(kernel)),
            *("--output", str(output), *told, "--cells", cells),
        ],
        env={**kernels.variables(document), **variables},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return times_of(output, axes, list(hosts))
