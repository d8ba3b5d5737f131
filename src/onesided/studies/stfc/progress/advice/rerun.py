"""Run again what an advice file claims, under that file, and judge it as a campaign does."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.campaign import grid, records
from onesided.cells.verdicts import Probe, Verdict
from onesided.environments import declarations, kernels, settings
from onesided.rerun import launch
from onesided.studies.stfc.progress.advice.file import Claim, claims
from onesided.studies.stfc.progress.analysis import judge, probe_of_series
from onesided.system.errors import InputError, OnesidedError

KERNEL = "progress"
LAUNCHES = 6
LAUNCH_TIMEOUT_S = 300.0
DEFAULT_SETTING = f"setting={settings.DEFAULT}"

_LEVEL = re.compile(r"thread_level=(\w+)")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Rerun:
    """A claim and what became of it.

    Attributes:
        claim: as the file states it.
        verdict: found now, under the same file.
    """

    claim: Claim
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Tell whether the claimed verdict came true."""
        return self.verdict.word == self.claim.verdict


def _group(claim: Claim) -> tuple[str, bool]:
    """Return what the claims of one launch have in common: thread level, with the file or not.

    A claim made at the default setting was measured without variables, and is run so again.
    """
    level = _LEVEL.search(claim.test)
    return (level.group(1) if level else "single", DEFAULT_SETTING not in claim.test)


def read_claims(path: Path) -> list[Claim]:
    """Return the claims of an advice file.

    Raises:
        InputError: it cannot be read, claims nothing, or names no declared environment.
    """
    try:
        found = claims(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        said = getattr(fault, "strerror", None) or fault
        raise InputError(path, None, said, "an advice file of a report") from fault
    if not found:
        raise InputError(path, None, "no claim", "an advice file with at least one claim")
    known = list(declarations.declared(in_containers=True))
    if found[0].environment not in known:
        raise InputError(path, "environment", found[0].environment, f"one of {', '.join(known)}")
    return found


def _launch_line(
    document: Mapping[str, Any], path: Path, group: tuple[str, bool], options: Sequence[str]
) -> list[str]:
    level, sourced = group
    line = kernels.launch_line(document, KERNEL, ["--thread-level", level, *options])
    if not sourced:
        return line
    return ["sh", "-eu", "-c", '. "$0"; exec "$@"', str(path.resolve()), *line]


def _launch(
    document: Mapping[str, Any],
    path: Path,
    group: tuple[str, bool],
    cells: Sequence[str],
    seed: int,
) -> dict[str, Probe]:
    """Run one launch of some cells; return the valid samples of those that ended well."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.jsonl"
        options = ["--output", str(lines), "--seed", str(seed)]
        options += launch.cell_options(map(grid.labels_of, cells))
        line = _launch_line(document, path, group, options)
        kernels.launch(line, kernels.variables(document), LAUNCH_TIMEOUT_S, quiet=True)
        results = records.read_launch(lines, Path(folder) / "launches.jsonl").results
    return {
        cell: probe_of_series(result["series"])
        for cell, result in results.items()
        if result["status"] == records.OK
    }


def rerun(path: Path, say: Say) -> list[Rerun]:
    """Run six launches of each claimed cell and judge them.

    Args:
        path: an advice file.
        say: called with a line for each launch that was over.

    Raises:
        InputError: the file has no claims.
        OnesidedError: the MPI is unavailable, or the kernels do not build.
    """
    wanted = read_claims(path)
    document = launch.ready(wanted[0].environment, KERNEL)
    groups: dict[tuple[str, bool], list[Claim]] = {}
    for claim in wanted:
        groups.setdefault(_group(claim), []).append(claim)
    found = []
    for group, members in groups.items():
        probes: dict[str, list[Probe]] = {claim.cell: [] for claim in members}
        for number in range(1, LAUNCHES + 1):
            try:
                launched = _launch(document, path, group, list(probes), number)
            except OnesidedError as fault:
                launched = {}
                say(f"launch {number}: {fault}")
            for cell, several in probes.items():
                several.append(launched.get(cell, Probe((), ())))
        found += [
            Rerun(claim, judge(grid.labels_of(claim.cell), probes[claim.cell])) for claim in members
        ]
    return found
