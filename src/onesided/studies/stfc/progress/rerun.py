"""Run the cells again for which an advice file claims verdicts, and derive new verdicts."""

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
from onesided.studies.stfc.progress.analysis import judge, probe_of_series
from onesided.system.errors import InputError, OnesidedError

KERNEL = "progress"
LAUNCHES = 6
LAUNCH_TIMEOUT_S = 300.0
DEFAULT_SETTING = f"setting={settings.DEFAULT}"

_CLAIM = re.compile(r"^# claim: (?P<test>\S.*) (?P<cell>\S+) (?P<verdict>\S+)$")
_ENVIRONMENT = re.compile(r"^# environment: (?P<name>.+)$")
_LEVEL = re.compile(r"thread_level=(\w+)")


@dataclass(frozen=True)
class Claim:
    """A claim of an advice file: a cell with its verdict."""

    environment: str
    test: str
    cell: str
    verdict: str

    @property
    def level(self) -> str:
        """Return the thread level at which the claim was measured."""
        level = _LEVEL.search(self.test)
        return level.group(1) if level else "single"

    @property
    def is_sourced(self) -> bool:
        """Tell whether the claim's cell is run with the variables that the advice file exports."""
        return DEFAULT_SETTING not in self.test


@dataclass(frozen=True)
class Rerun:
    """A claim of an advice file, and the verdict when the claim's cell was run again."""

    claim: Claim
    verdict: Verdict

    @property
    def holds(self) -> bool:
        """Tell whether the rerun has the verdict that the advice file claims."""
        return self.verdict.word == self.claim.verdict


def claims(text: str) -> list[Claim]:
    """Return the claims in the text of an advice file."""
    environment, stated = "", []
    for line in text.splitlines():
        if named := _ENVIRONMENT.match(line):
            environment = named["name"]
        elif claim := _CLAIM.match(line):
            stated.append(Claim(environment, **claim.groupdict()))
    return stated


def read_claims(path: Path) -> list[Claim]:
    """Read an advice file; return its claims.

    Raises:
        InputError: the file cannot be read, has no claim, or names an environment that is not
            declared.
    """
    try:
        stated = claims(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        said = getattr(fault, "strerror", None) or fault
        raise InputError(path, None, said, "an advice file of a report") from fault
    if not stated:
        raise InputError(path, None, "no claim", "an advice file with at least one claim")
    known = list(declarations.declared(in_containers=True))
    if stated[0].environment not in known:
        raise InputError(path, "environment", stated[0].environment, f"one of {', '.join(known)}")
    return stated


def _launch(
    document: Mapping[str, Any], path: Path, members: Sequence[Claim], seed: int
) -> dict[str, Probe]:
    """Launch the claims' cells once.

    All claims in one call have the same thread level. Either all claims or no claims need the
    variables of the advice file.

    Returns:
        The valid samples, by cell, of the cells that ended without a failure.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.jsonl"
        options = ["--thread-level", members[0].level, "--output", str(lines), "--seed", str(seed)]
        cells = dict.fromkeys(claim.cell for claim in members)
        options += launch.cell_options(map(grid.labels_of, cells))
        line = kernels.launch_line(document, KERNEL, options)
        if members[0].is_sourced:
            line = ["sh", "-eu", "-c", '. "$0"; exec "$@"', str(path.resolve()), *line]
        kernels.launch(line, kernels.variables(document), LAUNCH_TIMEOUT_S, quiet=True)
        results = records.read_launch(lines, Path(folder) / "launches.jsonl").results
    return {
        cell: probe_of_series(result["series"])
        for cell, result in results.items()
        if result["status"] == records.OK
    }


def rerun(path: Path, say: Callable[[str], None]) -> list[Rerun]:
    """Launch the cells of all claims six times, and derive a verdict for each claim.

    `path` is an advice file; `say` is called with a line for each launch that failed.

    Raises:
        InputError: the file has no claims.
        OnesidedError: the MPI is unavailable, or the kernels do not build.
    """
    stated = read_claims(path)
    document = launch.ready(stated[0].environment, KERNEL)
    groups: dict[tuple[str, bool], list[Claim]] = {}
    for claim in stated:
        groups.setdefault((claim.level, claim.is_sourced), []).append(claim)
    reruns = []
    for members in groups.values():
        launched: list[dict[str, Probe]] = []
        for number in range(1, LAUNCHES + 1):
            try:
                launched.append(_launch(document, path, members, number))
            except OnesidedError as fault:
                launched.append({})
                say(f"launch {number}: {fault}")
        for claim in members:
            probes = [probes.get(claim.cell, Probe((), ())) for probes in launched]
            reruns.append(Rerun(claim, judge(grid.labels_of(claim.cell), probes)))
    return reruns
