"""Read YAML and JSON documents, and check them against their JSON Schema."""

import contextlib
import copy
import json
import re
from collections.abc import Callable, Hashable, Iterator
from datetime import datetime
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import fastjsonschema
import jsonschema
import yaml

from onesided.system import paths, values
from onesided.system.errors import InputError

MOST_VALUES = 1_000_000
"""The most values that a YAML document may have. Values that YAML aliases repeat count each time,
because a few lines with aliases can stand for any number of values. An error message with all these
values would be endless."""
#: The most levels of brackets and braces in YAML: the parser's time grows with their square.
MOST_LEVELS = 200
#: Errors that YAML's constructors raise for an invalid number, date or tag.
CONSTRUCTORS_RAISE = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
NESTED_TOO_DEEPLY = "a document nested too deeply"


def _mapping_without_repeats(
    loader: yaml.constructor.SafeConstructor, node: yaml.MappingNode, deep: bool = False
) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=deep)
        if not isinstance(key, Hashable) or key in seen:
            fault = "given twice" if isinstance(key, Hashable) else "is no text"
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} {fault}", key_node.start_mark
            )
        seen.add(key)
    return yaml.constructor.SafeConstructor.construct_mapping(loader, node, deep)


class _Loader(yaml.SafeLoader):
    """A YAML loader that refuses repeated keys, which the YAML standard forbids."""


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A YAML loader that has the rules of `_Loader`, but uses libyaml and is 30 times faster.

    The error messages of libyaml say less than those of PyYAML's own parser.
    """


for _one in (_Loader, _FastLoader):
    _one.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping_without_repeats)


def _load(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_FastLoader)
    except yaml.YAMLError:
        return yaml.load(text, Loader=_Loader)


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema ``schemas/<name>.schema.json`` of this package."""
    text = resources.files("onesided").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    return json.loads(text)


def _pattern(
    validator: jsonschema.protocols.Validator, pattern: str, instance: Any, schema: dict[str, Any]
) -> Iterator[jsonschema.ValidationError]:
    """Yield a validation error if a text does not match a pattern of a schema.

    As in JSON Schema, ``$`` matches only the end of the text. In Python, ``$`` also matches before
    a final line feed.
    """
    is_text = validator.is_type(instance, "string")
    if is_text and not re.search(pattern.replace("$", r"\Z"), instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _is_integer(_: jsonschema.TypeChecker, value: Any) -> bool:
    """Tell whether a value is an integer. 6.0 is not: programs do not accept 6.0 as an option."""
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)

_FORMATS = jsonschema.FormatChecker(formats=())


def _is_time(text: str) -> bool:
    """Tell whether a text is a date and time with a UTC offset."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_regular_expression(text: str) -> bool:
    try:
        return bool(re.compile(text))
    except (re.error, OverflowError, RecursionError):
        return False


#: The formats of our schemas, as the fast validator (fastjsonschema) needs them.
_FORMATS_COMPILED = {"name": paths.is_name, "date-time": _is_time, "regex": _is_regular_expression}
for _name, _holds in _FORMATS_COMPILED.items():
    _FORMATS.checks(_name)(lambda text, holds=_holds: not isinstance(text, str) or holds(text))


@cache
def _validator(name: str) -> jsonschema.protocols.Validator:
    file, _, part = name.partition("#")
    schema = load_schema(file)
    if part:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return _Validator(schema, format_checker=_FORMATS)


#: Schemas with a fast validator, because there are thousands of such documents. The schemas use
#: no keyword that is too new for the compiler of these validators.
COMPILED = ("launches", "line", "references", "reframe_report", "session", "verdicts")


@cache
def _fits(name: str) -> Callable[[Any], Any] | None:
    """Return a fast function that raises an error if a document does not fit a schema.

    The result is None for schemas that are not in `COMPILED`.
    """
    if name.partition("#")[0] not in COMPILED:
        return None
    schema = dict(_validator(name).schema)
    schema.pop("$id", None)  # the compiler would read our `$id` as an address
    return fastjsonschema.compile(schema, formats=_FORMATS_COMPILED, use_default=False)


def check(document: Any, schema: str, source: str | Path) -> None:
    """Check that a document fits a schema, or the part of a schema that ``name#part`` names.

    Raises:
        InputError: a field does not fit; the message names `source` and the first such field.
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
    """Return all faults in a part of a document (`check` reports only the first fault).

    `field` is the place of the part in the file.
    """
    found = []
    for error in _validator(schema).iter_errors(document):
        inside, value, expected = _explain(error)
        where = f"{field}.{inside}" if inside else field
        found.append(InputError(source, where, value, expected))
    return found


def _describe(schema: dict[str, Any], fallback: str) -> str:
    """Say what a schema expects: return the schema's comment, its description or its type."""
    kind = schema.get("type")
    kinds = " or ".join(kind) if isinstance(kind, list) else kind
    return schema.get("$comment") or schema.get("description") or kinds or fallback


def _explain(error: jsonschema.ValidationError) -> tuple[str | None, str, str]:
    """Return the field that does not fit its schema, what was found, and what was expected."""
    path = [str(part) for part in error.absolute_path]
    known = error.schema.get("properties", {})
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return ".".join([*path, missing]), "nothing", _describe(known.get(missing, {}), "a value")
    if error.validator == "additionalProperties" and known:
        unknown = next(name for name in error.instance if name not in known)
        return ".".join([*path, str(unknown)]), "an unknown key", f"one of {', '.join(known)}"
    fallback = error.message
    if error.validator == "enum":
        fallback = f"one of {', '.join(map(str, error.validator_value))}"
    return ".".join(path) or None, repr(error.instance), _describe(error.schema, fallback)


def refuse(fault: tuple[str | None, str, str] | None, source: str | Path) -> None:
    """Raise an `InputError` if `values.fault` found a value that no document may have."""
    if fault is not None:
        raise InputError(source, *fault)


def read_text(path: Path, errors: str = "strict") -> str:
    """Read a UTF-8 text file and return its text.

    `errors` says how bytes that are not UTF-8 are handled, as for `bytes.decode`.

    Raises:
        InputError: the file cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text("utf-8", errors)
    except UnicodeDecodeError as fault:
        raise InputError(path, None, f"byte {fault.start} is not UTF-8", "UTF-8 text") from fault
    except OSError as fault:
        raise InputError(path, None, fault.strerror or fault, "a file that can be read") from fault


def read_yaml(path: Path, schema: str) -> Any:
    """Read a YAML document, and check that it fits a schema.

    Raises:
        InputError: the file cannot be read, is not YAML, is empty or does not fit.
    """
    return copy.deepcopy(_checked(read_text(path), path, schema))


@lru_cache(maxsize=32)
def _checked(text: str, path: Path, schema: str) -> Any:
    try:
        document = parse_yaml(text, path)
        if document is None:
            raise InputError(path, None, "an empty file", "a YAML mapping")
        check(document, schema, path)
    except RecursionError:
        raise InputError(path, None, NESTED_TOO_DEEPLY, "a few levels") from None
    return document


def parse_yaml(text: str, source: str | Path) -> Any:
    """Parse a text as YAML, and return the document; None if the text is empty.

    Raises:
        InputError: the text is not YAML, is nested too deeply, or has a value that `values.fault`
            refuses.
    """
    try:
        if values.levels(text) > MOST_LEVELS:
            raise InputError(source, None, NESTED_TOO_DEEPLY, "a few levels")
        document = _load(text)
        if values.has_more_than(MOST_VALUES, document):
            raise InputError(source, None, f"more than {MOST_VALUES} values", "fewer")
        refuse(values.fault(document), source)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else None
        raise InputError(source, line, getattr(fault, "problem", fault), "YAML") from fault
    except RecursionError:
        raise InputError(source, None, NESTED_TOO_DEEPLY, "a few levels") from None
    except CONSTRUCTORS_RAISE as fault:
        raise InputError(source, None, fault, "YAML") from fault
    return document


def read_json(path: Path, schema: str) -> Any:
    """Read a JSON document, and check that it fits a schema.

    Raises:
        InputError: the file cannot be read, is not JSON (for example, it is cut) or does not fit.
    """
    return parse_json(read_text(path), schema, path)


def parse_json(text: str, schema: str, source: str | Path) -> Any:
    """Parse a text as JSON, check that the document fits a schema, and return it.

    Raises:
        InputError: the text is not JSON (for example, it is cut) or does not fit.
    """
    try:
        document = values.from_json(text)
        refuse(values.suspicious_fault(document, text), source)
        check(document, schema, source)
    except json.JSONDecodeError as fault:
        expected = "a whole JSON document"
        raise InputError(source, f"line {fault.lineno}", fault.msg, expected) from fault
    except ValueError as fault:  # a number has more digits than Python reads
        raise InputError(source, None, fault, "JSON") from fault
    except RecursionError:
        raise InputError(source, None, NESTED_TOO_DEEPLY, "a few levels") from None
    return document
