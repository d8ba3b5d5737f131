"""Make text of other programs safe to show: control characters are replaced by their names."""

import re
from collections.abc import Collection
from typing import Any

#: Characters that end a line, control a terminal, change the direction of writing or are invisible,
#: and surrogates (halves of a character).
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
#: The same pattern for UTF-8, which has no surrogates.
UNSEEN_IN_UTF8 = UNSEEN.pattern.replace("\ud800-\udfff", "")
#: The same as `UNSEEN`, but without tabulators and line feeds, which a text of lines may have.
UNSEEN_IN_LINES = re.compile(UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
ELLIPSIS = "…"


def _named(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def line(text: object, most: int | None = None) -> str:
    r"""Return a text as one line, with invisible characters replaced by names such as ``\n``.

    `text` is any object that `str` accepts. A text of more than `most` characters is cut and ends
    with an ellipsis.
    """
    found = str(text)
    if most is not None and len(found) > most:
        found = found[: most - 1] + ELLIPSIS
    # no character of UNSEEN is printable
    return found if found.isprintable() else UNSEEN.sub(_named, found)


def lines(text: str) -> str:
    """Return a text of several lines without invisible characters.

    Line feeds and tabulators stay; other invisible characters become their names, as in `line`.
    """
    return UNSEEN_IN_LINES.sub(_named, text)


def plain(value: Any, but: Collection[str] = ()) -> Any:
    """Return a JSON document whose texts and keys have no invisible characters (see `line`).

    The values of the keys in `but` stay as they are.
    """
    if isinstance(value, str):
        return line(value)
    if isinstance(value, dict):
        return {line(key): part if key in but else plain(part, but) for key, part in value.items()}
    return [plain(part, but) for part in value] if isinstance(value, list) else value


def is_text(text: str) -> bool:
    """Tell whether a text can be in paths and files: it has neither NUL nor surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
