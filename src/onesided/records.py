"""Read what a launch left: the kernel's JSON lines, the hang files and the launch script's record.

The lines decide: a cell is what its result line says; a cell that was started and has none was
ended by what the hang file or the launch record tells; a cell that was never reached says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided import documents
from onesided.errors import InputError

LINE_SCHEMA = "onesided/line/1"
LINE_TYPES = ("header", "started", "result", "finished")

OK = "ok"
#: Statuses that fail a check; each is a verdict of its own in the report.
FAILURES = (
    "wrong_data",
    "hang",
    "crash",
    "teardown_failure",
    "timed_out",
    "not_run",
    "unavailable",
)


@dataclass
class Launch:
    """Everything one launch (with its relaunches) wrote.

    Attributes:
        headers: header lines, one a launcher started that got as far.
        started: ids of the cells begun, in order.
        results: result lines by cell id.
        hangs: hang lines by cell id (the first rank that reported).
        attempts: the launch script's record, one a launcher started; `exit_status` is None when
            the record was cut before the launcher ended.
        finished: whether MPI_Finalize returned in the last launcher.
        cut_lines: lines that were no whole JSON document.
    """

    headers: list[dict[str, Any]] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    hangs: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False
    cut_lines: int = 0


@dataclass(frozen=True)
class Expectation:
    """What a launch's header must say for its cells to count.

    Attributes:
        ranks: the world's size.
        library_version_pattern: regular expression for the library's own version string.
        source_state: the kernels' source state; None where a provider delivered them.
        placement: the placement asked for.
    """

    ranks: int
    library_version_pattern: str
    source_state: str | None
    placement: str

    @classmethod
    def of(
        cls, environment: Mapping[str, Any], ranks: int, placement: str, source_state: str
    ) -> Expectation:
        """Return what an environment's document and a test ask of a header."""
        delivered = environment["kernels_prefix"] is not None
        pattern = environment["library_version_pattern"]
        return cls(ranks, pattern, None if delivered else source_state, placement)


@dataclass(frozen=True)
class Outcome:
    """The status of a declared cell, a detail in one line or None, and its result line or None."""

    status: str
    detail: str | None
    result: dict[str, Any] | None = None


def whole_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield line number and document of each line; None for a line that is cut."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            document = None
            if line.endswith(b"\n"):
                try:
                    document = json.loads(line)
                except ValueError:
                    document = None
            yield number, document if isinstance(document, dict) else None


def _check_line(document: dict[str, Any], source: str) -> None:
    # the samples are numbers by the thousand: they are held against the schema by their first one
    if document.get("type") == "result" and isinstance(document.get("series"), list):
        document = {
            **document,
            "series": [
                {**series, "samples": series.get("samples", [])[:1]}
                if isinstance(series, dict)
                else series
                for series in document["series"]
            ],
        }
    if document.get("type") == "header" and document.get("schema") != LINE_SCHEMA:
        raise InputError(source, "schema", repr(document.get("schema")), LINE_SCHEMA)
    kind = document.get("type")
    if kind not in LINE_TYPES:
        raise InputError(source, "type", repr(kind), f"one of {', '.join(LINE_TYPES)}")
    documents.check(document, f"line#{kind}", source)


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Return the launch script's record of each launcher it started, in order."""
    attempts: dict[int, dict[str, Any]] = {}
    for _, document in whole_lines(path):
        if document is None:
            continue
        attempt = attempts.setdefault(
            document["launch"],
            {"exit_status": None, "timed_out": False, "finished": False, "end_s": None},
        )
        attempt.update({key: value for key, value in document.items() if key != "type"})
    return [attempts[number] for number in sorted(attempts)]


def read_launch(lines: Path | str, launches: Path | str) -> Launch:
    """Read a launch's files; files that are not there leave their part empty.

    Args:
        lines: the kernel's JSON-lines file; its hang files stand beside it.
        launches: the launch script's record.

    Raises:
        InputError: a whole line does not fit the schema (another version, say).
    """
    lines = Path(lines)
    launch = Launch(attempts=read_attempts(Path(launches)))
    for number, document in whole_lines(lines):
        if document is None:
            launch.cut_lines += 1
            continue
        _check_line(document, f"{lines}: line {number}")
        match document["type"]:
            case "header":
                launch.headers.append(document)
                launch.finished = False
            case "started":
                launch.started.append(document["cell"])
            case "result":
                launch.results[document["cell"]] = document
            case "finished":
                launch.finished = True
    for path in sorted(lines.parent.glob(f"{lines.name}.hang-*")):
        for _, document in whole_lines(path):
            if document is not None:
                launch.hangs.setdefault(document["cell"], document)
    return launch


def samples_of(result: Mapping[str, Any], metric: str, ranks: str = "all") -> list[float]:
    """Return the samples of a result line's series of that metric.

    Args:
        result: a result line.
        metric: name of the series.
        ranks: "all", or "origins" for all but rank 0, the target.
    """
    return [
        sample
        for series in result["series"]
        if series["metric"] == metric and (ranks == "all" or series["rank"] != 0)
        for sample in series["samples"]
    ]


def _header_fault(header: Mapping[str, Any], expected: Expectation) -> str | None:
    """Return in one line what in the header is not what the environment and check declared."""
    version = header["mpi"]["library_version"]
    if header["ranks"] != expected.ranks:
        return (
            f"ran {header['ranks']} ranks in a world, expected {expected.ranks} "
            "(is the launcher of another MPI?)"
        )
    if not re.search(expected.library_version_pattern, version):
        return f"ran with {version!r}, expected {expected.library_version_pattern}"
    if expected.source_state and header["source_state"] != expected.source_state:
        return f"kernel of sources {header['source_state']}, expected {expected.source_state}"
    found = header["placement"]["found"]
    if expected.placement != found:
        return f"placement {expected.placement} asked for, {found} found"
    return None


def _how_it_ended(launch: Launch) -> tuple[str, str]:
    """Return status and detail for the cells that no launcher reached."""
    if not launch.attempts:
        return "not_run", "no launcher was started"
    last = launch.attempts[-1]
    if last["timed_out"]:
        seconds = last["end_s"] - last["begin_s"]
        return "timed_out", f"the launcher was ended after {seconds:.0f} s"
    if last["exit_status"] is None:
        return "not_run", "the launcher was interrupted"
    if last["exit_status"] != 0:
        return "crash", f"the launcher exited {last['exit_status']} before this cell"
    return "not_run", "the launcher exited 0 and the kernel wrote no line for this cell"


def _started_outcome(cell: str, launch: Launch) -> Outcome:
    """Return the outcome of a cell that was begun and never came to its end."""
    hang = launch.hangs.get(cell)
    if hang:
        return Outcome("hang", f"rank {hang['rank']} in {hang['phase']}, {hang['call']}")
    # the launcher that ended with this cell: each one ends with the last cell it began
    order = [cell_id for cell_id in launch.started if cell_id not in launch.results]
    ended = [attempt for attempt in launch.attempts if not attempt["finished"]]
    position = order.index(cell)
    attempt = ended[position] if position < len(ended) else None
    if attempt is None or attempt["exit_status"] is None:
        return Outcome("not_run", "the launch was interrupted in this cell")
    if attempt["timed_out"]:
        return Outcome("timed_out", "the launch was ended in this cell by its time-out")
    return Outcome("crash", f"the launcher exited {attempt['exit_status']} in this cell")


def outcomes(
    launch: Launch, declared: Iterable[str], expected: Expectation | None
) -> dict[str, Outcome]:
    """Return for each declared cell what became of it.

    Args:
        launch: what the launch wrote.
        declared: ids of the declared cells, in order.
        expected: what the headers must say; None checks nothing.
    """
    declared = list(declared)
    faults = [_header_fault(header, expected) for header in launch.headers] if expected else []
    fault = next((fault for fault in faults if fault), None)
    unreached = _how_it_ended(launch)
    found: dict[str, Outcome] = {}
    for cell in declared:
        if fault:
            found[cell] = Outcome("unavailable", fault)
        elif cell in launch.results:
            result = launch.results[cell]
            found[cell] = Outcome(result["status"], result["detail"], result)
        elif cell in launch.started:
            found[cell] = _started_outcome(cell, launch)
        else:
            found[cell] = Outcome(*unreached)
    _mark_teardown(launch, found)
    return found


def _mark_teardown(launch: Launch, found: dict[str, Outcome]) -> None:
    """Book a launch that lost itself after its last cell to that cell."""
    if launch.finished or not launch.attempts or len(launch.results) < len(found):
        return
    last = list(launch.results)[-1]
    if last in found and found[last].status == OK:
        status = launch.attempts[-1]["exit_status"]
        found[last] = Outcome(
            "teardown_failure",
            f"all cells were over, then MPI_Finalize did not return (exit status {status})",
            found[last].result,
        )
