"""Pages of a report that are described by data: tables, figures and claims."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from markupsafe import Markup

from onesided.report.material import Cell, Material
from onesided.report.parts import Headline, Part, Section


class Page(Protocol):
    """The functions that the page of an experiment must have.

    A page that judges progress also has the function ``way_rows(cells)``, which returns the cells
    for each way in which a program may access a window. A way is identified by its heading and its
    name. `onesided versions` shows each way for several campaigns.
    """

    def headline(self, material: Material) -> Headline | None:
        """Return the page's answer, which is read in ten seconds; None without an answer."""

    def sections(self, material: Material) -> list[Section]:
        """Return the page's sections, which are shown below the answer."""

    def terminal_lines(self, material: Material) -> list[str]:
        """Return a section for a campaign that did not measure the study, or None."""


class Brief(Protocol):
    """What a study adds to the first screen of every report, and to the advice on an MPI.

    Attributes:
        SECTION: identifier of the section for a campaign without cells of the study.
        PAGE: identifier of the section with the whole answer, for a campaign with such cells.
    """

    SECTION: str
    PAGE: str

    def section(self, record: Mapping[str, Any]) -> Section | None:
        """Return a section for a campaign that did not measure the study, or None."""

    def sentences(self, record: Mapping[str, Any], headline: Headline | None) -> list[str | Markup]:
        """Return the study's sentences for the first screen; `headline` is the page's answer."""

    def warnings(
        self, record: Mapping[str, Any], environment: str, settings: Collection[str]
    ) -> list[str]:
        """Return what a user of an MPI in one of these settings must know, in sentences."""


class Content(Protocol):
    """Content of an experiment's page, such as a table, a figure, or the claims of a paper."""

    def parts(self, material: Material) -> Sequence[Part]:
        """Return the parts of the page that show this content; [] if nothing was measured."""


@dataclass(frozen=True)
class Count:
    """A number that does not depend on the machine, counted from one cell or several cells.

    Attributes:
        cell: the first of these cells.
        what: the values of the cells on the axes on which the number depends.
        number: the number; None if the measured times allow no single number.
        words: the number as the page shows it, or what the page shows in its place.
    """

    cell: Cell
    what: str
    number: float | None
    words: str


@dataclass(frozen=True)
class ReferencePage:
    """A page of an experiment that consists of an answer, if any, and only one section.

    Attributes:
        lead: what a reader has to know.
        contents: what the section shows, from top to bottom.
        answer: returns the answer that can be read in ten seconds; None for a page without an
            answer.
        counts: returns the numbers on the page that are the same on every machine. `onesided
            compare` names each number that changed. None for a page without such numbers.
    """

    identifier: str
    title: str
    lead: str
    contents: Sequence[Content]
    answer: Callable[[Material], Headline | None] | None = None
    counts: Callable[[Material], Sequence[Count]] | None = None

    def headline(self, material: Material) -> Headline | None:
        """Return the page's answer; None if the page has no answer."""
        return self.answer(material) if self.answer else None

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the sentences of the page's answer as lines of plain text."""
        headline = self.headline(material)
        return [Markup(said).striptags() for said in headline.sentences] if headline else []

    def sections(self, material: Material) -> list[Section]:
        """Return the only section."""
        parts = tuple(part for content in self.contents for part in content.parts(material))
        return [Section(self.identifier, self.title, self.lead, parts)]
