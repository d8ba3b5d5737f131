"""The errors of all commands.

A message about bad input is one line: file, field, found value and expected value.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from onesided.system import text

#: The variable with the path of a file, to which a failing stage adds its message and exit code.
FAULTS_VARIABLE = "ONESIDED_FAULTS"

#: The most characters of a field's name, and of the expected value. A name may be any text.
MOST_OF_A_FIELD = 200
MOST_EXPECTED = 1000

EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2


class OnesidedError(Exception):
    """An error that ends the command with a message of one line and exit code 1."""

    exit_code = EXIT_FAILURE

    def __init__(self, message: str = "") -> None:
        """Make the error; the message becomes one line, even if its text is from other programs."""
        super().__init__(text.line(message))


class InputError(OnesidedError):
    """An error because of bad input, with exit code 2.

    When this error is raised, nothing was started and nothing was overwritten.
    """

    exit_code = EXIT_BAD_INPUT

    def __init__(
        self,
        source: str | Path,
        field: str | None,
        found: object,
        expected: str,
    ) -> None:
        """Make the error from the place of the fault, the found value and the expected value.

        Args:
            source: the file (or option) with the fault.
            field: the field in the file, with dots; None for the whole file.
            found: what was found; shortened to one line of 120 characters.
            expected: what would be correct.
        """
        self.source = text.line(source)
        self.field = field and text.line(field, MOST_OF_A_FIELD)
        self.found = text.line(" ".join(str(found).split())[:120])
        self.expected = text.line(" ".join(expected.split()), MOST_EXPECTED)
        where = f"{self.source}: {self.field}" if self.field else self.source
        super().__init__(f"{where}: found {self.found}; expected {self.expected}")

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """Return what pickle needs, so that another process can rebuild the error."""
        return type(self), (self.source, self.field, self.found, self.expected)


class StoppedError(OnesidedError):
    """Raised when the user stops the program; in this case, unfinished work is not reported."""


def record_fault(fault: OnesidedError) -> None:
    """Write an error to the campaign's file of faults, if this process belongs to a campaign."""
    path = os.environ.get(FAULTS_VARIABLE)
    if path:
        line = json.dumps({"message": str(fault), "exit_code": fault.exit_code})
        # the disk may be full; the waiting command finds this out by itself
        with contextlib.suppress(OSError), Path(path).open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")
