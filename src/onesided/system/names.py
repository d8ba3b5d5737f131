"""Names that become part of a path or of a command: their pattern, and a check."""

import re
from pathlib import Path

from onesided.system.errors import InputError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
EXPECTED = (
    "a name of at most 64 letters (a to z), digits, dots, dashes and underscores "
    "that begins with none of . and -"
)


def is_name(text: object) -> bool:
    """Tell whether a text is a name. The JSON Schemas call this format ``name``.

    A name can be one part of a path (it is not ``..`` and has no ``/``) and one word of a shell,
    and it does not look like an option.
    """
    return isinstance(text, str) and NAME.fullmatch(text) is not None


def check(source: str | Path, field: str | None, text: str) -> str:
    """Return the text if it is a name.

    Args:
        source: the file or option with the text, for the message.
        field: the field with the text.
        text: the text that must be a name.

    Raises:
        InputError: the text is not a name.
    """
    if not is_name(text):
        raise InputError(source, field, repr(text), EXPECTED)
    return text
