"""The package's rooms: a reader can hold any module in the head, and none imports in a circle."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from onesided.system import paths

PACKAGE = paths.project_root() / "src" / "onesided"
MOST_LINES = 400
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a module imports when it is loaded."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & NAMES) | ({node.module} if inner - NAMES else set())
    return found & NAMES


def test_no_module_is_longer_than_a_reader_can_hold_in_the_head():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert [str(path) for path, count in lines.items() if count > MOST_LINES] == []


def test_no_modules_import_each_other_in_a_circle():
    graph = {name_of(path): imported(path) - {name_of(path)} for path in MODULES}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as fault:
        pytest.fail(f"a circle: {' -> '.join(fault.args[1])}")


def test_the_system_knows_no_other_room():
    for path in (PACKAGE / "system").glob("*.py"):
        others = {name for name in imported(path) if not name.startswith("onesided.system")}
        assert others == set(), path.name
