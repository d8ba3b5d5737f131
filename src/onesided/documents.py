"""Read YAML and JSON documents, hold them against their JSON Schema, write files whole."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import fastjsonschema
import jsonschema
import yaml

from onesided.errors import InputError, OnesidedError


class _UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that refuses a key given twice, which YAML itself forbids."""


def _mapping_without_repeats(
    loader: _UniqueKeyLoader, node: yaml.MappingNode, deep: bool = False
) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=deep)
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} given twice", key_node.start_mark
            )
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep)


_UniqueKeyLoader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_repeats
)


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema ``schemas/<name>.schema.json`` of this package."""
    text = resources.files("onesided").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    return json.loads(text)


@cache
def _validator(name: str) -> jsonschema.protocols.Validator:
    file, _, part = name.partition("#")
    schema = load_schema(file)
    if part:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return jsonschema.Draft202012Validator(schema)


#: Schemas of documents that come by the thousand, and use no word younger than what compiles here.
COMPILED = ("line",)


@cache
def _fits(name: str) -> Callable[[Any], Any] | None:
    """Return what raises unless a document fits, tens of times as fast as it could say why not."""
    if name.partition("#")[0] not in COMPILED:
        return None
    schema = dict(_validator(name).schema)
    schema.pop("$id", None)  # a name of ours, which it would take for where to fetch references
    return fastjsonschema.compile(schema, use_default=False)


def check(document: Any, schema: str, source: str | Path) -> None:
    """Hold a document against a schema.

    Args:
        document: what was read.
        schema: a schema's name, or ``name#part`` for one of its definitions.
        source: the file, for the message.

    Raises:
        InputError: naming the first field that does not fit.
    """
    fits = _fits(schema)
    if fits is not None:
        with contextlib.suppress(fastjsonschema.JsonSchemaValueException):
            fits(document)
            return
    error = jsonschema.exceptions.best_match(_validator(schema).iter_errors(document))
    if error is not None:
        raise InputError(source, *_explain(error))


def faults(document: Any, schema: str, source: str | Path, field: str) -> list[InputError]:
    """Return every fault of a part of a document, where one is not enough to tell.

    Args:
        document: the part.
        schema: as for `check`.
        source: the file, for the messages.
        field: where in the file the part stands.
    """
    found = []
    for error in _validator(schema).iter_errors(document):
        inside, value, expected = _explain(error)
        where = f"{field}.{inside}" if inside else field
        found.append(InputError(source, where, value, expected))
    return found


def _describe(schema: dict[str, Any], fallback: str) -> str:
    """Return in words what a schema expects: its ``$comment`` where it has one."""
    kind = schema.get("type")
    kinds = " or ".join(kind) if isinstance(kind, list) else kind
    return schema.get("$comment") or schema.get("description") or kinds or fallback


def _explain(error: jsonschema.ValidationError) -> tuple[str | None, str, str]:
    """Return field, what was found, and what was expected there."""
    path = [str(part) for part in error.absolute_path]
    known = error.schema.get("properties", {})
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return ".".join([*path, missing]), "nothing", _describe(known.get(missing, {}), "a value")
    if error.validator == "additionalProperties" and known:
        unknown = next(name for name in error.instance if name not in known)
        return ".".join([*path, str(unknown)]), "an unknown key", f"one of {', '.join(known)}"
    return ".".join(path) or None, repr(error.instance), _describe(error.schema, error.message)


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as fault:
        raise InputError(path, None, f"byte {fault.start} is not UTF-8", "UTF-8 text") from fault
    except OSError as fault:
        raise InputError(path, None, fault.strerror or fault, "a file that can be read") from fault


def read_yaml(path: Path, schema: str) -> Any:
    """Read a YAML document and hold it against a schema.

    Raises:
        InputError: the file cannot be read, is no YAML, is empty or does not fit.
    """
    try:
        document = yaml.load(_read_text(path), Loader=_UniqueKeyLoader)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else None
        raise InputError(path, line, getattr(fault, "problem", fault), "YAML") from fault
    if document is None:
        raise InputError(path, None, "an empty file", "a YAML mapping")
    check(document, schema, path)
    return document


def read_json(path: Path, schema: str) -> Any:
    """Read a JSON document and hold it against a schema.

    Raises:
        InputError: the file cannot be read, is no JSON (cut in half, say) or does not fit.
    """
    return parse_json(_read_text(path), schema, path)


def parse_json(text: str, schema: str, source: str | Path) -> Any:
    """Return the JSON document in a text, held against a schema.

    Args:
        text: the document.
        schema: as for `check`.
        source: where the text is from, for the message.

    Raises:
        InputError: it is no JSON (cut in half, say) or does not fit.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as fault:
        expected = "a whole JSON document"
        raise InputError(source, f"line {fault.lineno}", fault.msg, expected) from fault
    check(document, schema, source)
    return document


def write_text(path: Path, text: str) -> None:
    """Write a file whole: a reader, or a rerun after a kill, sees the old text or the new.

    Raises:
        OnesidedError: the folder is read-only or full; the old file is still there.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole, as `write_text` does."""
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as fault:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise OnesidedError(f"{path}: cannot be written: {fault.strerror}") from fault


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document whole, indented, keys in the order given."""
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
