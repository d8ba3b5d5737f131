"""A kernel's description of itself (--describe) agrees with pages, documentation and help."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from onesided.report.pivot import Axis
from onesided.studies import find
from onesided.system.documents import check

from .conftest import KERNEL_NAMES

pytestmark = [pytest.mark.first_mpi, pytest.mark.beside]

DOCS = Path(__file__).parents[2] / "docs"
#: A table of the documentation about the values of an axis: the table's head begins with the axis.
TABLE = re.compile(r"^\| `(\w+)` \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.M)
FIRST_CELL = re.compile(r"^\|([^|]*)\|", re.M)
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if TABLE.search(path.read_text())]


@pytest.fixture(scope="session")
def descriptions(kernel_of) -> dict[str, dict]:
    """Return each kernel's description of itself."""
    return {name: json.loads(kernel_of(name).alone("--describe").stdout) for name in KERNEL_NAMES}


def values_in(rows: str) -> list[str]:
    """Return the values named in the first cells of a table's rows."""
    return sorted(re.findall(r"`(\w+)`", "".join(FIRST_CELL.findall(rows))))


def axes_of(description: dict) -> dict[str, dict]:
    return {axis["name"]: axis for axis in description["axes"]}


def page_axes(experiment: object) -> Iterator[Axis]:
    """Yield the axes that an experiment's page shows, anywhere in the page's description."""
    waiting, seen = [experiment], set()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, str | type):
            continue
        seen.add(id(thing))
        if isinstance(thing, Axis):
            yield thing
        elif isinstance(thing, dict):
            waiting += thing.values()
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting += thing
        else:
            waiting += vars(thing).values() if hasattr(thing, "__dict__") else ()


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_a_description_fits_the_schema_and_needs_no_mpi(kernel_of, no_mpi, name):
    answer = kernel_of(name).alone("--describe", variables=no_mpi)
    described = json.loads(answer.stdout)
    check(described, "description", name)
    assert (answer.returncode, described["kernel"]) == (0, name)


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_it_names_the_axes_and_the_options_of_the_help(kernel_of, descriptions, name):
    described, says = descriptions[name], kernel_of(name).alone("--help").stdout
    listed = re.findall(r"^  --([\w-]+)", says, re.M)
    names = [part["name"] for part in (*described["axes"], *described["options"])]
    assert sorted({*names, "help"}) == sorted({*listed, "help"})
    for axis in axes_of(described).values():
        assert set(axis["default"]) <= {*axis.get("values", axis["default"]), "none"}
        if axis["only_with"]:  # OpenSHMEM's kernels have some of the values
            other = axes_of(described)[axis["only_with"]["axis"]]
            assert set(axis["only_with"]["values"]) & set(other["values"])


def values_of_all(descriptions: dict[str, dict]) -> dict[str, set[str]]:
    """Return the values of each axis in all kernels: a page's words may serve several kernels."""
    values: dict[str, set[str]] = {}
    for axis in (axis for one in descriptions.values() for axis in one["axes"]):
        values.setdefault(axis["name"], set()).update(axis.get("values", []))
        if other := axis["only_with"]:  # including OpenSHMEM's kernels
            values[other["axis"]].update(other["values"])
    return values


def test_pages_have_words_for_values_that_kernels_have_and_for_no_others(descriptions):
    values, shown = values_of_all(descriptions), 0
    for name, experiment in find().items():
        described = axes_of(descriptions[name])
        for axis in page_axes(experiment):
            if axis.words and "values" in described.get(axis.name, {}):
                assert set(axis.words) <= values[axis.name], (name, axis.name)
                shown += 1
    assert shown > 20


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_documentation_lists_all_values_of_an_axis_and_no_others(descriptions, path):
    text = path.read_text("utf-8")
    for axis, rows in TABLE.findall(text):
        there = [axes_of(one)[axis] for one in descriptions.values() if axis in axes_of(one)]
        expected = [sorted(one["values"]) for one in there if "values" in one]
        assert values_in(rows) in expected, axis
