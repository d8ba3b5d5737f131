"""Read the files that a launch wrote: result lines, hang and crash lines, and the launch record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided.system import documents, values
from onesided.system.errors import InputError

LINE_SCHEMA = "onesided/line/2"
LINE_TYPES = ("header", "started", "result", "further", "finished")

#: The file that a test leaves beside its other files when it has passed.
MARK = "passed.json"
MOST_SAMPLES = 2000
SAMPLE_KINDS = {float, int, type(None)}

LEAST: Mapping[str, tuple[float, str]] = {
    "s": (0, "a time of 0 or more"),
    "1": (0, "a ratio of 0 or more"),
    "count": (-1, "a count of 0 or more, or -1 where a library says that it has no limit"),
    "flag": (0, "0 or 1"),
}
"""For each unit: the least value that a sample may have, and the allowed values in words."""
DIFFERENCES = ("remaining",)
"""The metrics that are a difference between two times. A difference may be below 0."""

DAMAGED = "damaged file"
"""The beginning of the text that says why a cell of a damaged file is `not_run`."""

OK = "ok"
#: Statuses of cells with which a check fails. Each is also a verdict in the report.
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
    """The content of all files that a launch wrote, including all repeated starts of the launcher.

    Attributes:
        headers: header lines, one for each launcher that wrote a header.
        started: the ids of the cells that began, in order.
        results: result lines by cell id, with the measurements that later lines add.
        hangs: hang lines by cell id, in the order of ranks; None is the key outside cells.
        crashes: crash lines by cell id, as in `hangs`. Ranks that a signal ended come first,
            because other ranks may have ended as a consequence. Both groups are sorted by rank.
        attempts: the launch script's record, one entry for each launcher that was started.
            `exit_status` is None if the record was cut before the launcher ended.
        finished: whether MPI_Finalize returned in the last launcher.
        damage: what is wrong with the lines, by cell (`LineOrder.damage`).
    """

    headers: list[dict[str, Any]] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    hangs: dict[str | None, list[dict[str, Any]]] = field(default_factory=dict)
    crashes: dict[str | None, list[dict[str, Any]]] = field(default_factory=dict)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False
    damage: dict[str | None, str] = field(default_factory=dict)


class LineOrder:
    """A check that no line of a kernel's file is cut, doubled or in the wrong place.

    A kernel writes a header line, then a started line and a result line for each cell, and at the
    end a finished line. If a launcher was killed, only the last line of its output can be
    incomplete. If another line is incomplete or wrong, the file was damaged later. A damaged file
    says nothing about an MPI, so the affected cells are `not_run`.

    Attributes:
        damage: by cell, the first fault in the cell's lines. The key None is for lines that
            belong to no cell. If this key exists, all cells of the file are `not_run`.
    """

    def __init__(self, file: str) -> None:
        """Prepare to check the lines of a file, which messages call `file`."""
        self.damage: dict[str | None, str] = {}
        self._file = file
        self._headers: list[Mapping[str, Any]] = []
        self._finished = 0
        self._open: str | None = None
        self._over: set[str] = set()
        self._cut: tuple[str | None, int] | None = None

    def cut(self, number: int) -> None:
        """Record a cut line. A cut line is damage, unless the launcher was killed at this line."""
        self._blame_cut()
        self._cut = self._open, number

    def line(self, number: int, document: Mapping[str, Any]) -> None:
        """Check the next complete line of the file."""
        kind, cell = document["type"], document.get("cell")
        if kind != "header":
            self._blame_cut()
        self._cut = None
        if kind == "header":
            self._header(number, document)
        elif not self._headers:
            self._note(None, number, f"is a {kind} line with no header line above it")
        elif kind == "finished":
            self._finished += 1
            self._close(number, "ends the launch")
        elif self._is_of_another_launch(document):
            self._note(None, number, f"has index {document['index']} for {cell}: another launch's")
        else:
            self._of_cell(number, kind, cell)

    def end(self, attempts: Sequence[Mapping[str, Any]]) -> None:
        """Compare the lines of the whole file with the launch script's record."""
        if not attempts:
            return
        if attempts[-1]["exit_status"] == 0:
            self._blame_cut()
        finished = sum(one["finished"] for one in attempts)
        # if a record was interrupted, its launcher may or may not have finished
        open_ends = sum(one["exit_status"] is None for one in attempts)
        self._counted("header", len(self._headers), 0, len(attempts))
        self._counted("finished", self._finished, finished, finished + open_ends)

    def _counted(self, kind: str, found: int, least: int, most: int) -> None:
        """Check that the number of lines of one type agrees with the launch script's record."""
        if not least <= found <= most:
            allowed = f"{least}" if least == most else f"{least} to {most}"
            told = f"{found} {kind} line{'' if found == 1 else 's'}"
            self._say(None, f"the file has {told}, by the record of the launches {allowed}")

    def _header(self, number: int, document: Mapping[str, Any]) -> None:
        if self._headers and document["kernel"] != self._headers[0]["kernel"]:
            kernels = f"{document['kernel']} after one of {self._headers[0]['kernel']}"
            self._note(None, number, f"is a header line of {kernels}")
        self._headers.append(document)
        self._open = None

    def _is_of_another_launch(self, document: Mapping[str, Any]) -> bool:
        cells, index = self._headers[-1]["cells"], document["index"]
        return index >= len(cells) or cells[index] != document["cell"]

    def _of_cell(self, number: int, kind: str, cell: str) -> None:
        if kind == "further":
            if cell not in self._over:
                self._note(cell, number, "adds to a result that is not in the file")
        elif cell in self._over:
            self._note(cell, number, f"is a second {kind} line of a cell that has a result")
        elif kind == "started":
            self._close(number, "begins another cell")
            self._open = cell
        else:
            if self._open != cell:
                self._note(cell, number, "is a result with no started line above it")
            self._over.add(cell)
            self._open = None

    def _close(self, number: int, what: str) -> None:
        if self._open is not None:
            self._note(self._open, number, f"{what}, and the result of this cell is missing")
        self._open = None

    def _blame_cut(self) -> None:
        if self._cut:
            self._note(*self._cut, "is cut")
        self._cut = None

    def _note(self, cell: str | None, number: int, what: str) -> None:
        self._say(cell, f"line {number} {what}")

    def _say(self, cell: str | None, what: str) -> None:
        self.damage.setdefault(cell, f"{DAMAGED} {self._file}: {what}")


def whole_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield number and document of each nonblank line; an incomplete line's document is None."""
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    document = _document(line, f"{path}: line {number}")
                    yield number, document if isinstance(document, dict) else None
    except FileNotFoundError:
        return
    except OSError as fault:
        raise InputError(path, None, fault.strerror or fault, "a file that can be read") from fault


def _document(line: bytes, source: str) -> Any:
    """Return the JSON document of a line; None for an incomplete line.

    Raises:
        InputError: the line is whole, but has a key twice or a value that no document may have.
    """
    if not line.endswith(b"\n"):
        return None
    try:
        written = line.decode("utf-8")
        document = values.from_json(written, whole=True)
    except values.RepeatedKeyError as fault:
        raise InputError(source, None, fault, "each key once") from None
    except (ValueError, RecursionError):
        return None
    documents.refuse(values.suspicious_fault(document, written), source)
    return document


def _check_samples(document: dict[str, Any], source: str) -> None:
    """Check that all samples of a result line are numbers or null; a JSON Schema is too slow."""
    for index, series in enumerate(document["series"]):
        samples, where = series["samples"], f"series.{index}.samples"
        if not set(map(type, samples)) <= SAMPLE_KINDS:
            found = next(one for one in samples if type(one) not in SAMPLE_KINDS)
            raise InputError(source, where, repr(found), "numbers or null")
        if len(samples) > MOST_SAMPLES:
            raise InputError(source, where, f"{len(samples)} samples", f"at most {MOST_SAMPLES}")
        if series["metric"] not in DIFFERENCES:
            _check_range(samples, series["unit"], source, where)


def _check_range(samples: Sequence[float | None], unit: str, source: str, where: str) -> None:
    """Check that samples have values that their unit allows: for example, a flag is 0 or 1."""
    least, expected = LEAST[unit]
    known = [one for one in samples if one is not None]
    wrong = [one for one in known if one < least]
    if unit == "flag":
        wrong += [one for one in known if one not in (0, 1)]
    if unit == "count":
        wrong += [one for one in known if one != int(one)]
    if wrong:
        raise InputError(source, where, wrong[0], expected)


def check_line(document: dict[str, Any], source: str) -> None:
    """Check that a line that a kernel wrote fits the schema.

    Raises:
        InputError: a field does not fit; the message names the first such field.
    """
    whole, kind = document, document.get("type")
    # there are thousands of samples, so the schema checks only the first sample of each series
    if document.get("type") in ("result", "further") and isinstance(document.get("series"), list):
        document = {
            **document,
            "series": [
                {**series, "samples": series["samples"][:1]}
                if isinstance(series, dict) and isinstance(series.get("samples"), list)
                else series
                for series in document["series"]
            ],
        }
    if document.get("type") == "header" and document.get("schema") != LINE_SCHEMA:
        expected = f"{LINE_SCHEMA}: measure again, with kernels of these sources"
        raise InputError(source, "schema", repr(document.get("schema")), expected)
    if kind not in LINE_TYPES:
        raise InputError(source, "type", repr(kind), f"one of {', '.join(LINE_TYPES)}")
    documents.check(document, f"line#{kind}", source)
    if kind == "header":
        _check_processes(whole, source)
    if "series" in whole:
        _check_samples(whole, source)
        _check_verification(whole, source)


def _check_processes(header: Mapping[str, Any], source: str) -> None:
    """Check that a header line names each rank exactly once."""
    found = sorted(process["rank"] for process in header["processes"])
    if found != list(range(header["ranks"])):
        expected = f"each rank below {header['ranks']} once"
        raise InputError(source, "processes", f"ranks {', '.join(map(str, found))}", expected)


def _check_verification(document: Mapping[str, Any], source: str) -> None:
    """Check that a result line does not count more wrong values than checked values."""
    for index, one in enumerate(document["verification"]):
        if one["errors"] > one["checked"]:
            expected = f"at most {one['checked']}, as checked"
            raise InputError(source, f"verification.{index}.errors", one["errors"], expected)


def _check_ranks(document: Mapping[str, Any], ranks: int, source: str) -> None:
    """Check that each series of samples belongs to a rank of the launch."""
    for index, series in enumerate(document.get("series", ())):
        if series["rank"] >= ranks:
            raise InputError(source, f"series.{index}.rank", series["rank"], f"less than {ranks}")


_WITHOUT_END = {
    **dict.fromkeys(("exit_status", "cells_begun", "end_s")),
    **dict.fromkeys(("timed_out", "finished", "given_up"), False),
}
"""The values in the launch record of a launcher that has not ended yet."""


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Return the launch script's record: one entry for each started launcher, in order.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    attempts: dict[int, dict[str, Any]] = {}
    for number, document in whole_lines(path):
        if document is None:
            continue
        documents.check(document, "launches", f"{path}: line {number}")
        attempt = attempts.setdefault(
            document["launch"],
            dict(_WITHOUT_END),
        )
        attempt.update({key: value for key, value in document.items() if key != "type"})
    return [attempts[number] for number in sorted(attempts)]


def launch_s(attempt: Mapping[str, Any]) -> float | None:
    """Return how many seconds a launcher ran; None if its end is not known.

    The times are from the system clock. If the system clock was set back meanwhile, so that the end
    is before the beginning, the function returns 0.
    """
    ended = attempt["end_s"]
    return None if ended is None else max(ended - attempt["begin_s"], 0.0)


def read_launch(lines: Path | str, launches: Path | str, shown: str | None = None) -> Launch:
    """Read the files of a launch. A missing file counts as an empty file.

    `lines` is the kernel's JSON-lines file; the side files are beside this file. `launches` is the
    launch script's record. Messages about damage name the JSON-lines file `shown`; by default, they
    use the file's own name.

    Raises:
        InputError: a whole line does not fit the schema (for example, another version).
    """
    lines = Path(lines)
    launch = Launch(attempts=read_attempts(Path(launches)))
    order = LineOrder(shown or lines.name)
    launch.damage = order.damage
    for number, document in whole_lines(lines):
        if document is None:
            order.cut(number)
            continue
        source = f"{lines}: line {number}"
        check_line(document, source)
        order.line(number, document)
        if launch.headers:
            _check_ranks(document, launch.headers[-1]["ranks"], source)
        match document["type"]:
            case "header":
                launch.headers.append(document)
                launch.finished = False
            case "started":
                launch.started.append(document["cell"])
            case "result":
                launch.results[document["cell"]] = document
            case "further" if document["cell"] in launch.results:
                _add(launch.results[document["cell"]], document)
            case "finished":
                launch.finished = True
    order.end(launch.attempts)
    for kind, found in (("hang", launch.hangs), ("crash", launch.crashes)):
        for line in _side_lines(lines, kind):
            found.setdefault(line["cell"], []).append(line)
    for crashes in launch.crashes.values():
        crashes.sort(key=lambda crash: crash["signal"] is None)
    return launch


def _add(result: dict[str, Any], further: Mapping[str, Any]) -> None:
    """Add the samples of a further measurement of a cell to the cell's result line."""
    known = {_series_key(series): series for series in result["series"]}
    for series in further["series"]:
        before = known.get(_series_key(series))
        if before is None:
            result["series"].append(series)
        else:
            before["samples"].extend(series["samples"])
            before["dropped"] += series["dropped"]
    result["verification"].extend(further["verification"])
    if further["status"] != OK and result["status"] == OK:
        result.update(status=further["status"], detail=further["detail"])


def _series_key(series: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(series[name] for name in ("metric", "unit", "rank", "burst"))


def _side_lines(lines: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of all hang or crash files, sorted by rank. A relaunch appends lines."""
    found = []
    for path in lines.parent.glob(f"{lines.name}.{kind}-*"):
        for number, document in whole_lines(path):
            if document is not None:
                documents.check(document, f"line#{kind}", f"{path}: line {number}")
                found.append(document)
    return sorted(found, key=lambda document: document["rank"])
