"""Whether a launch's lines are as a kernel writes them: what is cut, doubled or out of order.

A kernel appends a header, for each cell a started line and then its result, and at last a finished
line. A launcher that was ended leaves at most one line that is cut, its last. Any other file was
damaged later. Damage is no verdict on an MPI: the cells that it concerns are not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

DAMAGED = "damaged file"
"""Begins the reason why a cell of such a file was not measured."""


class LineOrder:
    """Follows the lines of a file, one after the other.

    Attributes:
        damage: what is damaged in one line, by cell; None: of a line that is no cell's, and then
            no cell of the file counts.
    """

    def __init__(self, file: str) -> None:
        """Begin before the first line of a file, which is called so."""
        self.damage: dict[str | None, str] = {}
        self._file = file
        self._headers: list[Mapping[str, Any]] = []
        self._finished = 0
        self._open: str | None = None
        self._over: set[str] = set()
        self._cut: tuple[int, str | None] | None = None

    def cut(self, number: int) -> None:
        """Take a line that is no whole document: ordinary if its launcher was ended in it."""
        self._blame_cut()
        self._cut = number, self._open

    def line(self, number: int, document: Mapping[str, Any]) -> None:
        """Take a whole line."""
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
        """Take the end of the file, with what the launch script recorded of each launcher."""
        if not attempts:
            return
        if attempts[-1]["exit_status"] == 0:
            self._blame_cut()
        finished = sum(one["finished"] for one in attempts)
        # an interrupted record does not say whether its launcher came to its end
        open_ends = sum(one["exit_status"] is None for one in attempts)
        self._counted("header", len(self._headers), 0, len(attempts))
        self._counted("finished", self._finished, finished, finished + open_ends)

    def _counted(self, kind: str, found: int, least: int, most: int) -> None:
        """See that the file has as many lines of a kind as the record of the launches allows."""
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
            number, cell = self._cut
            self._note(cell, number, "is cut")
        self._cut = None

    def _note(self, cell: str | None, number: int, what: str) -> None:
        self._say(cell, f"line {number} {what}")

    def _say(self, cell: str | None, what: str) -> None:
        self.damage.setdefault(cell, f"{DAMAGED} {self._file}: {what}")
