"""Ways to program, each with a verdict in every MPI, and a page that says which way to use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.cells import verdicts
from onesided.report.answers import Together, where
from onesided.report.cells import apart
from onesided.report.material import Cell, Material
from onesided.report.parts import Headline, Section

STRONG = "consistent with strong progress"
WEAK = "consistent with weak progress"
IN_PART = "independent in part"
NOT_MEASURED = "nothing measured"
NOT_DECIDED = "nothing decided"


def reading(words: Sequence[str]) -> str:
    """Say whether the verdicts of an MPI are consistent with strong or with weak progress.

    Strong and weak progress are properties of an implementation. Cells only show its behaviour. A
    single cell whose accesses wait for the target excludes strong progress. A single cell whose
    accesses do not wait for the target excludes weak progress.
    """
    observed = {word for word in words if word in verdicts.OBSERVED}
    if not observed:
        missing = {*verdicts.NOT_MEASURED, *verdicts.FAILURES}
        return NOT_MEASURED if set(words) <= missing else NOT_DECIDED
    if observed <= {verdicts.INDEPENDENT, verdicts.DELAYED}:
        return STRONG
    return WEAK if observed == {verdicts.WAITS} else IN_PART


def measured_with(environments: Sequence[str], cells: Sequence[Cell]) -> list[str]:
    """Return the MPIs with at least one measured cell."""
    tried = {cell.environment for cell in cells if cell.verdict not in verdicts.NOT_MEASURED}
    return [name for name in environments if name in tried]


def completes(found: Mapping[str, str], plural: str) -> str:
    """Say in which MPIs an access completes while its target computes.

    The returned words can follow the name of an access.
    """
    said = where(found, plural)
    if said.startswith("not in "):
        return f"does not complete {said.removeprefix('not ')}"
    return said if said.startswith(("failed", "not known")) else f"completes {said}"


def is_good(word: str) -> bool:
    """Tell whether a verdict says that accesses complete while the target computes."""
    return word in (verdicts.INDEPENDENT, verdicts.WITH_HELP)


@dataclass(frozen=True)
class Way:
    """One or several ways to program that have, in each MPI, the same verdict.

    Attributes:
        key: a name for the column of the CSV.
        title: the title in words.
        by_environment: the verdict in each MPI for which cells of the way were declared.
        pairs: the flavor and synchronisation of each way; empty if the way is the target's help.
    """

    key: str
    title: str
    by_environment: Mapping[str, Together]
    pairs: Sequence[tuple[str, str]] = ()

    @property
    def words(self) -> dict[str, str]:
        """Return the word of the verdict in each MPI."""
        return {name: together.word for name, together in self.by_environment.items()}

    @property
    def good(self) -> int:
        """Return the number of MPIs in which accesses complete while the target computes."""
        return sum(map(is_good, self.words.values()))


def columns_of(ways: Sequence[Way]) -> dict[str, dict[str, str]]:
    """Return the title of each column of an answer's table, and words to search for its cells.

    A search for these words in the table of every cell finds the cells of the column.
    """
    return {
        way.key: {
            "title": way.title[:1].upper() + way.title[1:],
            "finds": " ".join(way.pairs[0]) if len(way.pairs) == 1 else "",
        }
        for way in ways
    }


def row_of(environment: str, ways: Sequence[Way]) -> dict[str, Any]:
    """Return an MPI's row of an answer's table, with a verdict and a note for each way."""
    row: dict[str, Any] = {"environment": environment}
    for way in ways:
        if environment in way.by_environment:
            together = way.by_environment[environment]
            row |= {way.key: together.word, f"{way.key}_note": together.note}
    return row


@dataclass(frozen=True)
class AnswerPage:
    """A report's page that begins with a short answer (see `onesided.report.page.Page`).

    Attributes:
        answer: returns the answer, from two materials: with partitions apart, and with all cells.
        contents: functions that return the last sections, from the cells with partitions apart.
        whole: functions that return the sections before `contents`, from all cells. These functions
            separate partitions themselves.
        way_rows: returns the cells of each way to program; a key has the way's heading and name.
    """

    answer: Callable[[Material, Material], Headline]
    contents: Sequence[Callable[[Material], Section | None]]
    way_rows: Callable[[Sequence[Cell]], Mapping[tuple[str, str], list[Cell]]]
    whole: Sequence[Callable[[Material], Section | None]] = ()

    def headline(self, material: Material) -> Headline:
        """Return the answer, whose table has a row for each MPI on each partition."""
        return self.answer(apart(material), material)

    def sections(self, material: Material) -> list[Section]:
        """Return the sections of the page, in their order."""
        split = apart(material)
        sections = [content(material) for content in self.whole]
        sections += [content(split) for content in self.contents]
        return [section for section in sections if section is not None]

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the answer as lines of plain text."""
        return [sentence.striptags() for sentence in self.headline(material).sentences]
