"""Each defect in docs/defects has a text, and a C program that compiles without a warning."""

import re
import subprocess

import pytest

from onesided.system.paths import project_root

FOLDER = project_root() / "docs" / "defects"
PROGRAMS = sorted(FOLDER.glob("*.c"))
TEXTS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def test_the_table_names_every_text_and_each_text_a_program_that_is_there():
    table = (FOLDER / "README.md").read_text("utf-8")
    assert re.findall(r"\]\(([a-z0-9_]+\.md)\) \|", table)
    assert {f"{path.name}" for path in TEXTS} == set(
        re.findall(r"\]\(([a-z0-9_]+\.md)\) \|", table)
    )
    named = {
        name for text in TEXTS for name in re.findall(r"\]\((\w+\.c)\)", text.read_text("utf-8"))
    }
    assert named == {path.name for path in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_no_warning_and_needs_nothing_of_this_project(program, ready_environment):
    compiler = ready_environment("mpich-5.0.2")["compilers"]["c"]
    line = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", program]
    subprocess.run(line, check=True)
    included = re.findall(r"^#include (.*)$", program.read_text("utf-8"), re.MULTILINE)
    assert all(header.startswith("<") for header in included)
