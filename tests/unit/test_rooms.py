"""The package's floors: a module imports from its own or lower floors, never in a circle."""

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from onesided.system import paths

FLOORS = (
    "system",
    "cells",
    "environments",
    "sites",
    "campaign",
    "measure",
    "rerun",
    "compare",
    "regression",
    "report",
    "studies",
    "cli",
)
"""From the lowest: a floor may import from itself and from earlier floors."""

ROOF = "onesided"
"""The package itself: its version, which every floor may read."""

PACKAGE = paths.project_root() / "src" / "onesided"
MOST_LINES = 400
MOST_MODULES = 240
MOST_IMPORTS = 0.075
"""The largest share of imports in the lines of all modules."""

MODULES = sorted(PACKAGE.rglob("*.py"))
DOTTED = re.compile(r"onesided(\.\w+)+")


def name_of(path: Path, root: Path = PACKAGE.parent) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {name_of(path): path.read_text("utf-8") for path in MODULES}


def named(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node may import: by a statement anywhere, or by a name in a string."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Constant) and DOTTED.fullmatch(str(node.value)):
        yield str(node.value)


@functools.cache
def names_in(text: str) -> frozenset[str]:
    return frozenset(name for node in ast.walk(ast.parse(text)) for name in named(node))


def imported(text: str, modules: Mapping[str, str]) -> set[str]:
    """Return the modules of the package that a module imports, or names for `importlib`."""
    found = set()
    for name in names_in(text):
        while name and name not in modules:
            name = name.rpartition(".")[0]
        found |= {name} - {""}
    return found


def floor_of(module: str) -> str:
    return f"{module}.".split(".")[1] or ROOF


def upward(modules: Mapping[str, str]) -> list[str]:
    """Return the imports from a higher floor."""
    height = {ROOF: -1, **{floor: number for number, floor in enumerate(FLOORS)}}
    return [
        f"{module} -> {other}"
        for module, text in modules.items()
        for other in sorted(imported(text, modules))
        if height[floor_of(other)] > height[floor_of(module)]
    ]


def circle(modules: Mapping[str, str]) -> list[str]:
    """Return the modules of a circle of imports; none without a circle."""
    graph = {
        module: {other for other in imported(text, modules) if other not in (module, ROOF)}
        for module, text in modules.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as fault:
        return fault.args[1]
    return []


def test_every_module_is_on_a_floor():
    assert {floor_of(module) for module in SOURCES} == {*FLOORS, ROOF}


def test_no_import_leads_to_a_floor_above():
    assert upward(SOURCES) == []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(SOURCES) == []


@pytest.mark.parametrize(
    "line",
    [
        "from onesided.cli import stages",
        "def later():\n    import onesided.cli.stages",
        "if TYPE_CHECKING:\n    from onesided.cli.stages import run",
        "importlib.import_module('onesided.cli.stages')",
    ],
    ids=["plain", "in a function", "TYPE_CHECKING", "importlib"],
)
def test_an_import_that_leads_up_is_seen_however_it_is_written(line):
    broken = {**SOURCES, "onesided.system.text": f"{SOURCES['onesided.system.text']}\n{line}\n"}
    assert upward(broken) == ["onesided.system.text -> onesided.cli.stages"]


def test_a_circle_within_a_floor_is_seen():
    line = "from onesided.system import paths"
    broken = {**SOURCES, "onesided.system.errors": f"{SOURCES['onesided.system.errors']}\n{line}\n"}
    assert {"onesided.system.errors", "onesided.system.paths"} <= set(circle(broken))


def test_no_module_is_longer_than_a_reader_can_hold_in_the_head():
    lines = {module: len(text.splitlines()) for module, text in SOURCES.items()}
    assert [module for module, count in lines.items() if count > MOST_LINES] == []


def test_the_package_has_rooms_and_no_crumbs():
    assert len(SOURCES) <= MOST_MODULES


def test_few_lines_are_imports():
    imports = sum(
        node.end_lineno - node.lineno + 1
        for text in SOURCES.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    assert imports <= MOST_IMPORTS * sum(len(text.splitlines()) for text in SOURCES.values())


FOREIGN = re.compile(r"""["'](?:mpich|openmpi|impi|progress|shared_counter|conformance)\b""")
"""A string that begins with the name of an MPI or of a kernel."""


@pytest.mark.parametrize("floor", ["system", "cells", "measure", "compare", "report"])
def test_a_floor_below_the_studies_names_no_kernel_and_no_mpi(floor):
    code = {module: text for module, text in SOURCES.items() if floor_of(module) == floor}
    assert [module for module, text in code.items() if FOREIGN.search(text)] == []
