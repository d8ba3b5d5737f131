"""Errors a user can mend: one clear line that names file, field, found and expected."""

from __future__ import annotations

from pathlib import Path

EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2


class OnesidedError(Exception):
    """A failure that ends the command with one line and exit code 1."""

    exit_code = EXIT_FAILURE


class InputError(OnesidedError):
    """Bad input: exit code 2; nothing was started and nothing was overwritten."""

    exit_code = EXIT_BAD_INPUT

    def __init__(
        self,
        source: str | Path,
        field: str | None,
        found: object,
        expected: str,
    ) -> None:
        """Say where the fault is and how to mend it.

        Args:
            source: the file (or option) that holds the fault.
            field: the field inside it, dotted; None for the file as a whole.
            found: what stands there; shortened to one line of 120 characters.
            expected: what would be right.
        """
        self.source = str(source)
        self.field = field
        self.found = " ".join(str(found).split())[:120]
        self.expected = " ".join(expected.split())
        where = f"{self.source}: {field}" if field else self.source
        super().__init__(f"{where}: found {self.found}; expected {self.expected}")
