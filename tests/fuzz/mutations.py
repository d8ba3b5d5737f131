"""Single changes of an input: of a value in a document, or of a file's bytes.

The choice depends on the seed alone. A document is changed as a Python object and written again.
Values that Python cannot hold, such as a number of 5,000 digits or a tag, are written through
`Raw`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import yaml
from file_changes import OF_BYTES
from hostile import (
    COMMANDS,
    CONTROLS,
    DEEP,
    LONG,
    MANY,
    NO_NUMBERS,
    NOT_FINITE,
    OTHER_SCRIPTS,
    PATHS,
    QUOTES,
    SCRIPTS,
    TAGS,
)  # fmt: skip


@dataclass(frozen=True)
class Raw:
    """Text that is in the file unchanged, in the place of a value."""

    text: str


@dataclass(frozen=True)
class Document:
    """A document of a file, and its format."""

    value: Any
    write: Callable[[Any], str]


def write_yaml(value):
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)


def write_json(value):
    return json.dumps(value, separators=(",", ":")) + "\n"


# -------- places of a document


def places(value: Any, at: tuple = ()) -> list[tuple]:
    """Return the paths of all values of a document; the document's own path is first."""
    found = [at]
    if isinstance(value, dict):
        for key, part in value.items():
            found += places(part, (*at, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            found += places(part, (*at, index))
    return found


def at(value: Any, path: tuple) -> Any:
    for key in path:
        value = value[key]
    return value


def put(document: Any, path: tuple, value: Any) -> Any:
    """Return a copy of a document with another value at a place."""
    if not path:
        return value
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def _drawn(source: Random, document: Any, wanted: Callable[[Any], bool] = lambda _: True) -> tuple:
    """Return the path of a value, drawn with equal chance from all values."""
    found = [path for path in places(document) if wanted(at(document, path))]
    return source.choice(found or [()])


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


# -------- changes of a document


def another_type(source, document, bait):
    path = _drawn(source, document)
    others = [None, True, 7, 0.5, "words", ["words"], {"a": "b"}, "12", "true"]
    return put(document, path, source.choice(others))


def _number(numbers: tuple[str, ...], kinds: Any) -> Callable:
    def change(source, document, bait):
        path = _drawn(source, document, lambda value: isinstance(value, kinds))
        return put(document, path, Raw(source.choice(numbers)))

    return change


def empty(source, document, bait):
    return put(document, _drawn(source, document), source.choice(["", [], {}, " ", None]))


def very_long(source, document, bait):
    path = _drawn(source, document, lambda value: isinstance(value, str))
    long = source.choice(
        ["x" * LONG, "a=b," * (LONG // 4), " " * LONG, "1" * LONG, "-" * LONG + "!"]
    )
    return put(document, path, long)


def nested_deep(source, document, bait):
    open_, close = source.choice([("[", "]"), ('{"a":', "}")])
    deep = open_ * DEEP + "1" + close * source.choice([DEEP, 0])
    return put(document, _drawn(source, document), Raw(deep))


def many_items(source, document, bait):
    path = _drawn(source, document, lambda value: isinstance(value, list))
    found = at(document, path)
    one = source.choice(found) if isinstance(found, list) and found else {"a": []}
    return put(document, path, [one] * source.choice([2, MANY]))


def key_removed(source, document, bait):
    path = _drawn(source, document, _is_map)
    found = at(document, path)
    if not _is_map(found):
        return []
    gone = source.choice(list(found))
    return put(document, path, {key: part for key, part in found.items() if key != gone})


def key_renamed(source, document, bait):
    path = _drawn(source, document, _is_map)
    found = at(document, path)
    if not _is_map(found):
        return {"a": found}
    old = source.choice(list(found))
    new = source.choice(
        [old.upper() if isinstance(old, str) else "k", f"{old}s", f" {old}", "5", ""]
    )
    return put(document, path, {new if key == old else key: part for key, part in found.items()})


def key_hostile(source, document, bait):
    path = _drawn(source, document, _is_map)
    found = at(document, path)
    texts = (*CONTROLS, *PATHS, *COMMANDS, *SCRIPTS, "x" * LONG)
    key = source.choice(texts).replace("{bait}", bait)
    return put(document, path, {**(found if _is_map(found) else {}), key: source.choice(["x", 1])})


def key_of_number(source, document, bait):
    path = _drawn(source, document, _is_map)
    found = at(document, path)
    keys = [5, True, None, 1.5]
    return put(document, path, {**(found if _is_map(found) else {}), source.choice(keys): "x"})


def key_doubled(source, document, bait):
    path = _drawn(source, document, _is_map)
    found = at(document, path)
    if not _is_map(found):
        return found
    key = source.choice(list(found))
    again = source.choice([found[key], "another", 3])
    return put(document, path, {**found, f"{DOUBLED}{key}": again})


def list_for_map(source, document, bait):
    path = _drawn(source, document, lambda value: isinstance(value, dict | list))
    found = at(document, path)
    other = (
        [found] if isinstance(found, dict) else {str(i): one for i, one in enumerate(found or [])}
    )
    return put(document, path, other)


def item_gone(source, document, bait):
    path = _drawn(source, document, lambda value: isinstance(value, list) and bool(value))
    found = at(document, path)
    return put(document, path, found[1:] if isinstance(found, list) else [])


def _text(*texts: str) -> Callable:
    def change(source, document, bait):
        text = source.choice(texts).replace("{bait}", bait).replace("{{", "{").replace("}}", "}")
        path = _drawn(source, document, lambda value: isinstance(value, str))
        was = at(document, path)
        return put(document, path, f"{was}{text}" if source.random() < 0.5 else text)

    return change


def tag(source, document, bait):
    text = source.choice(TAGS).replace("{bait}", bait).replace("{{", "{").replace("}}", "}")
    return put(document, _drawn(source, document), Raw(text))


OF_DOCUMENTS = {
    "a value of another type": another_type,
    "NaN or infinite": _number(NOT_FINITE, int | float),
    "a number that is none": _number(NO_NUMBERS, int | float),
    "a number for a text": _number(NOT_FINITE + NO_NUMBERS, str | None),
    "an empty value": empty,
    "a very long text": very_long,
    "nested deep": nested_deep,
    "a list of many": many_items,
    "an item less": item_gone,
    "a key less": key_removed,
    "a key by another name": key_renamed,
    "a hostile key": key_hostile,
    "a key that is no text": key_of_number,
    "a key twice": key_doubled,
    "a list for a mapping, or back": list_for_map,
    "control characters": _text(*CONTROLS),
    "a path elsewhere": _text(*PATHS),
    "a command": _text(*COMMANDS),
    "quotes and patterns": _text(*QUOTES),
    "HTML and script": _text(*SCRIPTS),
    "other scripts": _text(*OTHER_SCRIPTS),
    "tags, anchors and dates of YAML": tag,
}

# -------- writing a changed document

#: Stand-ins for text that a document's writer would not write.
DOUBLED = "doubled@"
RAW = "raw@{}@"


def written(document: Any, write: Callable[[Any], str]) -> bytes:
    """Return a changed document as text of its file."""
    raws: list[str] = []

    def plain(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(value.text)
            return RAW.format(len(raws) - 1)
        if isinstance(value, dict):
            return {key: plain(part) for key, part in value.items()}
        return [plain(part) for part in value] if isinstance(value, list) else value

    text = write(plain(document)).replace(DOUBLED, "")
    for index, raw in enumerate(raws):
        mark = RAW.format(index)
        for quoted in (f'"{mark}"', f"'{mark}'", mark):
            text = text.replace(quoted, raw)
    return text.encode("utf-8", "surrogatepass")


KINDS = (*OF_DOCUMENTS, *OF_BYTES)


def change(
    source: Random, content: bytes, documents: list[Document], bait: str, turn: int
) -> tuple[str, bytes]:
    """Return the kind of a change, and a changed file.

    Args:
        source: of random choices.
        content: of the file.
        documents: all documents in the file; none for changes of bytes alone.
        bait: a path that the commands among the changes would make.
        turn: chooses the kind of change; as many turns as there are kinds have each kind once.
    """
    kinds = KINDS if documents else tuple(OF_BYTES)
    kind = kinds[turn % len(kinds)]
    if kind in OF_BYTES:
        return kind, OF_BYTES[kind](source, content)
    number = source.randrange(len(documents))
    parts = []
    for index, one in enumerate(documents):
        value = one.value
        if index == number:
            value = OF_DOCUMENTS[kind](source, value, bait)
        parts.append(written(value, one.write))
    return kind, b"".join(parts)
