"""References: the verdicts a site keeps, and what in a launch no longer fits one of them.

One file a partition and environment, ``references/<system>.<partition>/<environment>.json``, made
from a campaign's verdicts. A launch fails its check when a cell that was ``independent`` waits.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onesided import documents, paths
from onesided.errors import InputError
from onesided.verdicts import INDEPENDENT, MINIMUM_REMAINING_S, OBSERVED, WAITING_LAUNCH, Probe

SCHEMA = "onesided/references/1"
FOLDER_VARIABLE = "ONESIDED_REFERENCES"

MINIMUM_SAMPLES = 5
"""Valid samples that one launch needs to speak against a reference."""


def folder() -> Path:
    """Return ``references/`` (``ONESIDED_REFERENCES`` if set)."""
    declared = os.environ.get(FOLDER_VARIABLE)
    return Path(declared).resolve() if declared else paths.project_root() / "references"


def file_of(system: str, partition: str, environment: str) -> Path:
    """Return the file with the references of one environment on one partition."""
    return folder() / f"{system}.{partition}" / f"{environment}.json"


def documents_of(cells: Iterable[Mapping[str, Any]], campaign: str) -> dict[Path, dict[str, Any]]:
    """Return the reference documents of a campaign's verdicts, by file.

    Only what was observed is kept: a failure or an undecided cell is nothing to hold on to.

    Args:
        cells: entries of verdicts.json.
        campaign: its name, for the record.
    """
    found: dict[Path, dict[str, Any]] = {}
    tests: dict[Path, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for cell in cells:
        if cell["verdict"] not in OBSERVED:
            continue
        place = {name: cell[name] for name in ("system", "partition", "environment")}
        path = file_of(**place)
        found.setdefault(path, {"schema": SCHEMA, **place, "campaign": campaign})
        tests[path][cell["test"]][cell["cell"]] = cell["verdict"]
    return {path: {**document, "tests": dict(tests[path])} for path, document in found.items()}


def write(found: Mapping[Path, Mapping[str, Any]], replace: bool = False) -> None:
    """Write reference documents.

    Raises:
        InputError: a file stands already and may not be replaced; nothing was written.
    """
    standing = [path for path in found if path.exists()]
    if standing and not replace:
        raise InputError(standing[0], None, "a file", "none, or --replace")
    for path, document in found.items():
        documents.write_json(path, document)


def read(system: str, partition: str, environment: str, test: str) -> dict[str, str]:
    """Return the verdict a site keeps for each cell of a test; empty where it keeps none.

    Raises:
        InputError: the file is cut or does not fit its schema.
    """
    path = file_of(system, partition, environment)
    if not path.exists():
        return {}
    return documents.read_json(path, "references")["tests"].get(test, {})


def probe_of(result: Mapping[str, Any]) -> Probe:
    """Return the valid samples of one result line of the kernel progress.

    Args:
        result: with the series valid, remaining and elapsed, one sample an access.
    """
    series = [
        [sample for one in result["series"] if one["metric"] == name for sample in one["samples"]]
        for name in ("valid", "remaining", "elapsed")
    ]
    counted = [
        (remaining, elapsed)
        for valid, remaining, elapsed in zip(*series, strict=True)
        if valid and remaining >= MINIMUM_REMAINING_S
    ]
    return Probe(tuple(pair[0] for pair in counted), tuple(pair[1] for pair in counted))


def turned(kept: Mapping[str, str], probes: Mapping[str, Probe]) -> list[str]:
    """Return a line for each cell that was independent and waits in this launch.

    Args:
        kept: verdicts by cell, from `read`.
        probes: the launch's valid samples by cell.
    """
    found = []
    for cell, word in kept.items():
        probe = probes.get(cell)
        if word != INDEPENDENT or probe is None or len(probe.remaining) < MINIMUM_SAMPLES:
            continue
        if probe.early_fraction <= WAITING_LAUNCH:
            found.append(
                f"{cell}: was independent, now waits ({probe.early_fraction:.0%} of "
                f"{len(probe.remaining)} accesses were early, above {WAITING_LAUNCH:.0%} expected)"
            )
    return found
