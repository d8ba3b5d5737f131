"""References: results that a site keeps for an environment; later launches are compared with them.

Each partition and environment has its own reference file,
``references/<system>.<partition>/<environment>.json``. A reference file is made from a campaign. A
launch fails if the verdict on one of its cells was ``independent`` in the reference file, but the
cell now waits. In regression mode, a launch also fails if one of its values is above the bound in
the reference file.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided.cells.experiment import Metric
from onesided.cells.verdicts import INDEPENDENT, OBSERVED, WITH_HELP, Probe
from onesided.measure.common_analyses import metric_values, samples_of_results
from onesided.measure.judging import WAITING_LAUNCH
from onesided.measure.latencies import LATENCY, Reading, least, readings
from onesided.system import documents, paths, writing
from onesided.system.errors import InputError

SCHEMA = "onesided/references/2"
FOLDER_VARIABLE = "ONESIDED_REFERENCES"

MINIMUM_SAMPLES = 5
"""A launch contradicts the reference of a cell only if the cell has at least this number of valid
samples."""


@dataclass(frozen=True)
class Kept:
    """What a site's reference file says about one test in one environment.

    Attributes:
        verdicts: the verdicts, by cell.
        figures: by name (`figure_name`), the value of a figure, its bound (`upper`), its unit and
            the number of launches.
        near_s: the largest distance between cores (a cache line's round trip in s) with which a
            launch is compared with the figures. None if not known; then all launches are compared.
        least_width: the least width of the origin's core (operations at a time) with which a launch
            is compared with the figures. None if not known; then all widths are accepted. Effects
            of the target's core are within the bounds.
    """

    verdicts: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    near_s: float | None = None
    least_width: float | None = None


def folder() -> Path:
    """Return ``references/`` (``ONESIDED_REFERENCES`` if set)."""
    declared = os.environ.get(FOLDER_VARIABLE)
    return Path(declared).resolve() if declared else paths.project_root() / "references"


def file_of(system: str, partition: str, environment: str) -> Path:
    """Return the path of the reference file of an environment on a partition.

    Raises:
        InputError: one of the three arguments is not a name.
    """
    place = {"system": system, "partition": partition, "environment": environment}
    for what, name in place.items():
        paths.check_name("references", what, name)
    return folder() / f"{system}.{partition}" / f"{environment}.json"


def documents_of(cells: Iterable[Mapping[str, Any]], campaign: str) -> dict[Path, dict[str, Any]]:
    """Return the contents of reference files with a campaign's verdicts; the keys are their paths.

    Only observed verdicts are kept. Cells that failed or are undecided get no reference. `campaign`
    is the name of the campaign, for the record.
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
        InputError: a file exists already and may not be replaced; nothing was written.
    """
    standing = [path for path in found if path.exists()]
    if standing and not replace:
        raise InputError(standing[0], None, "a file", "none, or --replace")
    for path, document in found.items():
        writing.write_json(path, document)


def read(path: Path, test: str) -> Kept:
    """Return the references of a test from a reference file; no references without a file.

    Raises:
        InputError: the file is cut or does not fit its schema.
    """
    if not path.exists():
        return Kept()
    document = documents.read_json(path, "references")
    return Kept(
        document["tests"].get(test, {}),
        document.get("figures", {}).get(test, {}),
        document.get("near_s"),
        document.get("least_width"),
    )


def figure_name(metric: str, cell: str) -> str:
    """Return the name that a cell's value has in ReFrame: ``<metric>[<cell>]``."""
    return f"{metric}[{cell}]"


def figure_of(name: str, figure: Mapping[str, Any]) -> tuple[Metric, str]:
    """Return the metric and the cell of a value from its name and entry in a reference file."""
    metric, _, cell = name.partition("[")
    of = {"series": metric, **figure.get("of", {})}
    return Metric(metric, unit=figure["unit"], **of), cell.removesuffix("]")


def launch_figures(
    results: Mapping[str, Mapping[str, Any]], metrics: Iterable[Metric]
) -> dict[str, float]:
    """Return the values of a launch by name (`figure_name`), computed as in a report.

    Each latency in the result is the latency that `reading_of` returns.
    """
    found: dict[str, float] = {}
    others = []
    for metric in metrics:
        if metric.series != LATENCY:
            others.append(metric)
            continue
        for cell, result in results.items():
            if (reading := reading_of(result)) is not None:
                found[figure_name(metric.name, cell)] = reading.latency
    samples = samples_of_results(results, {metric.series for metric in others})
    for metric in others:
        values = metric_values(samples, metric).select("cell", "value")
        found |= {figure_name(metric.name, cell): value for cell, value in values.iter_rows()}
    return found


def reading_of(result: Mapping[str, Any]) -> Reading | None:
    """Return the least latency in a result line as a `Reading`; None if the line has no latency."""
    return least(readings((series["metric"], series["samples"]) for series in result["series"]))


def is_as_kept(result: Mapping[str, Any], kept: Kept) -> bool:
    """Tell whether a launch's cores were as near, and shared as little, as the references allow."""
    reading = reading_of(result)
    if reading is None:
        return True
    distance, width = reading.distance, reading.width
    is_far = kept.near_s is not None and distance is not None and distance > kept.near_s
    is_shared = kept.least_width is not None and width is not None and width < kept.least_width
    return not is_far and not is_shared


def turned(kept: Mapping[str, str], probes: Mapping[str, Probe]) -> dict[str, str]:
    """Return a line of text for each cell that was independent in the reference but now waits.

    `kept` has the verdicts by cell, from `read`; `probes` has the valid samples of the launch by
    cell.
    """
    found = {}
    for cell, word in kept.items():
        probe = probes.get(cell)
        progressed = word in (INDEPENDENT, WITH_HELP)
        if not progressed or probe is None or len(probe.remaining) < MINIMUM_SAMPLES:
            continue
        if probe.early_fraction <= WAITING_LAUNCH:
            found[cell] = (
                f"{cell}: was {word}, now waits ({probe.early_fraction:.0%} of "
                f"{len(probe.remaining)} accesses were early, above {WAITING_LAUNCH:.0%} expected)"
            )
    return found
