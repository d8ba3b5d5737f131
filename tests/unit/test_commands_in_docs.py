"""Commands in the documentation work: the command line takes them, and their files exist."""

import contextlib
import functools
import io
import re
import shlex
from dataclasses import dataclass

import pytest

from onesided import cli
from onesided.campaign import campaign
from onesided.system import paths
from onesided.system.errors import InputError

ROOT = paths.project_root()
#: Programs for an issue, which readers build with their own MPI.
ELSEWHERE = ROOT / "docs" / "defects"
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "config/*.md", "containers/*.md")
    for path in ROOT.glob(pattern)
    if ELSEWHERE not in path.parents and path.name != "CHANGELOG.md"
)
BLOCK = re.compile(r"^```(?:sh)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
ASSIGNMENT = re.compile(r"(\w+)=(\S*)")
PATH_LINE = "export PATH=$PWD/.venv/bin:$PATH"
PROGRAMS = ("onesided", "make", "mpiexec", "mpicc", ".venv/bin/onesided")
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
#: Names that a page assumes: the reader's own site file, campaign or experiment.
OWN = ("mine", "local.yaml", "FILE", "CAMPAIGN", "NAME")


@dataclass
class Line:
    """A command of a page: its variables and words."""

    variables: dict
    words: list


def lines_of(page):
    """Yield the commands of a page's blocks that call our programs or an MPI's."""
    for block in BLOCK.findall(page.read_text("utf-8")):
        for text in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"\s&&\s|\s--\s(?=onesided)", text):
                try:
                    words = shlex.split(part, comments=True)
                except ValueError:  # prose, or a line of another language
                    continue
                variables = {}
                while words and (found := ASSIGNMENT.fullmatch(words[0])):
                    variables[found[1]] = found[2]
                    words = words[1:]
                if words and words[0] in PROGRAMS:
                    yield Line(variables, words)


def of_pages(program):
    return [
        pytest.param(page, line, id=f"{page.relative_to(ROOT)}: {' '.join(line.words)}"[:90])
        for page in PAGES
        for line in lines_of(page)
        if line.words[0].endswith(program)
    ]


@functools.cache
def parser():
    return cli.build_parser()


def is_own(word):
    return any(name in word for name in OWN) or any(sign in word for sign in "<>…{}")


def knows(name):
    try:
        campaign.resolve(name)
    except InputError:
        return False
    return True


def test_there_are_commands_to_be_tried():
    assert len(of_pages("onesided")) > 25
    assert len(of_pages("make")) > 15


@pytest.mark.parametrize(("page", "line"), of_pages("onesided"))
def test_the_command_line_takes_it(page, line):
    said = io.StringIO()
    words = [word for word in line.words[1:] if word != "[propose]"]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            options = parser().parse_args(words)
    except SystemExit as ended:
        assert ended.code == 0, said.getvalue()  # --help
        return
    name = getattr(options, "campaign", None)
    assert name is None or is_own(name) or knows(name), name


@pytest.mark.parametrize(("page", "line"), of_pages("make"))
def test_make_has_the_target_and_the_campaign(page, line):
    for word in line.words[1:]:
        if found := ASSIGNMENT.fullmatch(word):
            assert found[1] != "CAMPAIGN" or is_own(found[2]) or knows(found[2])
        elif not word.startswith("-"):
            assert word in TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_folder_of_results_was_made_by_a_line_above(page):
    made = set()
    for line in lines_of(page):
        if line.words[0].endswith("onesided"):
            for word in line.words[1:]:
                if re.match(r"(results|later|again)/", word):
                    assert "/".join(word.split("/")[:2]) in made, f"{word}: nothing has made it"
        made |= results_of(line)


def results_of(line):
    """Return the results folders that a campaign's command makes."""
    folder = line.variables.get("ONESIDED_RESULTS", "results")
    if line.words[0].endswith("onesided") and line.words[1:2] == ["run"]:
        return {f"{folder}/{line.words[2]}"}
    if line.words[:2] == ["make", "report"]:
        chosen = [word.partition("=")[2] for word in line.words if word.startswith("CAMPAIGN=")]
        return {f"{folder}/{(chosen or ['quick'])[0]}"}
    return set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_program_of_an_mpi_is_taken_from_a_path_that_nobody_set(page):
    assert [line.words for line in lines_of(page) if line.words[0] in ("mpiexec", "mpicc")] == []


def test_the_first_command_of_the_readme_comes_after_the_line_that_finds_it():
    text = (ROOT / "README.md").read_text("utf-8")
    first = next(found.start() for found in re.finditer(r"^onesided ", text, re.MULTILINE))
    assert 0 <= text.find(PATH_LINE) < first
    assert PATH_LINE in (ROOT / "docs" / "README.md").read_text("utf-8")
