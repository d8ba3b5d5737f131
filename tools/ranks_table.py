#!/usr/bin/env python3
"""Print what checks would run on nodes of several sizes, as the table of docs/ranks.md.

ReFrame describes the checks; nothing is run. A line has a check and a number of ranks. For each
kind of nodes, the line has the cells, the repetitions (trials, or samples), and the approximate
seconds of a launch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from onesided.campaign import grid, ranks

ROOT = Path(__file__).parents[1]
NUMBERS = [2, 8, 64]
CHECKS = ("luecke", "llnl", "dinan", "redbook_collectives", "redbook_halo")
SHOWN = ("RightShift", "AllToAll", "SwappedAllToAll", "Mutex", "Transpose", "Halo")
#: Cores of a node, ranks on a node (None: all cores), nodes.
NODES: dict[str, tuple[int, int | None, int | None]] = {
    "2 cores": (2, None, None),
    "16 cores": (16, None, None),
    "128 cores": (128, None, None),
    "8 nodes of 64 cores, 8 ranks each": (64, 8, 8),
}
SITE = """
from onesided.sites import configuration

site_configuration = configuration("made_up", "nodes of any size", [{partition!r}])
"""


def described(cores: int, per_node: int | None, nodes: int | None) -> dict[str, dict[str, Any]]:
    """Return, by name, the tests that ReFrame describes on such nodes."""
    extras = {"ranks_per_node": per_node, "nodes": nodes}
    partition = {
        "name": "node",
        "scheduler": "squeue",
        "launcher": "srun",
        "processor": {"num_cpus": cores},
        "features": [] if nodes else ["one_node"],
        "extras": {name: value for name, value in extras.items() if value},
    }
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site.py")
        site.write_text(SITE.format(partition=partition))
        command = [Path(sys.executable).with_name("reframe"), f"--config-file={site}", "--describe"]
        command += [f"--checkpath={ROOT / 'reframe_checks' / name}.py" for name in CHECKS]
        variables = {"ONESIDED_SESSION": folder, ranks.VARIABLE: json.dumps(NUMBERS)}
        said = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    tests, _ = json.JSONDecoder().raw_decode(said, said.index("[\n"))
    return {test["display_name"]: test for test in tests}


def written(test: dict[str, Any]) -> str:
    """Return a test's cells, repetitions and seconds in words."""
    cells = len(grid.cells(test["base_point"], test["crosses"]))
    options = test["kernel_options"]
    repetitions = options.get("trials") or options.get("samples", "")
    return f"{cells} x {repetitions}, {test['expected_s']:.0f} s"


def main() -> None:
    """Print the table."""
    found = {name: described(*nodes) for name, nodes in NODES.items()}
    print("| check | ranks |", " | ".join(NODES), "|")
    print(f"|---|---{'|---' * len(NODES)}|")
    for name, test in found["2 cores"].items():
        check = name.split()[0]
        is_openshmem = test["valid_prog_environs"] == ["+openshmem"]
        if check in SHOWN and test["setting"] == "default" and not is_openshmem:
            each = " | ".join(written(tests[name]) for tests in found.values())
            print(f"| `{check}` | {test['ranks']} | {each} |")


if __name__ == "__main__":
    main()
