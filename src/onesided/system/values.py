"""Find values that no JSON or YAML document may have, even if its schema accepts them.

For example, JSON Schema accepts NaN as a number between any bounds, and Python reads 1e400 as
infinite. Later steps reject NaN, infinite numbers, integers of more than 64 bits, and text with
surrogates (halves of a character).
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from onesided.system.text import is_text, line

LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**64 - 1
MOST_OF_A_KEY = 40
A_NUMBER = "a number that 64 bits hold"
A_TEXT = "text without NUL, in UTF-8"
#: A JSON text with a value that no document may have contains one of these. Most lines contain
#: none, so that their values need not be checked. Before the search, each digit becomes 0 and E
#: becomes e: a regular expression would take six times as long.
SUSPICIOUS = (b"NaN", b"Infinity", b"\\u", b"0e000", b"0e+000", b"0" * 19)
ONE_DIGIT = bytes.maketrans(b"123456789E", b"000000000e")


class RepeatedKeyError(ValueError):
    """Raised if a JSON object has the same key twice.

    JSON does not define which of the key's two values is meant.
    """


def walk(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key and value of a document, together with its field."""
    left = [("", document)]
    while left:
        field, value = left.pop()
        yield field, value
        if isinstance(value, dict):
            left += [(field, key) for key in value]
            left += [(f"{field}.{key}", part) for key, part in value.items()]
        elif isinstance(value, list):
            left += [(f"{field}.{index}", part) for index, part in enumerate(value)]


def levels(written: str) -> int:
    """Return how deep the brackets and braces in a text are nested, including those in quotes."""
    depth = most = 0
    for sign in re.findall(r"[][{}]", written):
        depth = depth + 1 if sign in "[{" else max(0, depth - 1)
        most = max(most, depth)
    return most


def has_more_than(most: int, document: Any) -> bool:
    """Tell whether a document has more than `most` keys and values.

    A value that a YAML alias repeats counts each time.
    """
    left, seen = [document], 0
    while left and seen <= most:
        value = left.pop()
        seen += 1
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
    return seen > most


def fault(document: Any) -> tuple[str | None, str, str] | None:
    """Find the first value that no document may have.

    The result has the field, the value found there, and what is expected; None if all is allowed.
    """
    for field, value in walk(document):
        where = field.lstrip(".") or None
        if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            key = next(key for key in value if not isinstance(key, str))
            return where, f"key {line(key, MOST_OF_A_KEY)}", "keys of text, in quotes if numbers"
        if isinstance(value, str) and not is_text(value):
            return where, repr(value), A_TEXT
        if isinstance(value, float) and not math.isfinite(value):
            return where, str(value), A_NUMBER
        if isinstance(value, int) and not LEAST_INTEGER <= value <= MOST_INTEGER:
            # not the number itself, which may have more digits than Python writes
            return where, f"an integer of {value.bit_length()} bits", A_NUMBER
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"key {twice!r} given twice")
    return found


def _object_of_whole_numbers(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = _object(pairs)
    for name, value in pairs:
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            found[name] = int(value)
    return found


#: Made only once, because there may be a million lines.
_DECODER = json.JSONDecoder(object_pairs_hook=_object)
_DECODER_OF_WHOLE_NUMBERS = json.JSONDecoder(object_pairs_hook=_object_of_whole_numbers)


def from_json(written: str, *, whole: bool = False) -> Any:
    """Parse a JSON text and return the document, even if `fault` refuses one of its values.

    If `whole` is true, 2.0 as the value of a key becomes 2, which is the same number in JSON.

    Raises:
        RepeatedKeyError: an object has a key twice.
        ValueError: the text is not JSON, or has a number with more digits than Python reads.
        RecursionError: the text is nested too deeply.
    """
    return (_DECODER_OF_WHOLE_NUMBERS if whole else _DECODER).decode(written)


def suspicious_fault(document: Any, written: str) -> tuple[str | None, str, str] | None:
    """Return what `fault` finds; search only if the text has at least one of `SUSPICIOUS`."""
    searched = written.encode("utf-8", "surrogatepass").translate(ONE_DIGIT)
    return fault(document) if any(map(searched.__contains__, SUSPICIOUS)) else None
