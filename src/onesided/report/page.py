"""A page that is data: tables, figures and claims, from top to bottom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from markupsafe import Markup

from onesided.report.material import Material
from onesided.report.parts import Headline, Part, Section


class Page(Protocol):
    """What a page module of an experiment has to offer.

    One that judges progress has ``way_rows(cells)`` besides: the cells by heading and name of the
    way a program takes, which `onesided versions` puts side by side.
    """

    def headline(self, material: Material) -> Headline | None:
        """Return the answer in ten seconds; None for what answers nothing by itself."""

    def sections(self, material: Material) -> list[Section]:
        """Return the sections that follow."""

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the answer as plain lines; none where there is no headline."""


class Brief(Protocol):
    """What a study says on the first screen of every report.

    Attributes:
        SECTION: identifier of the section for a campaign without cells of the study.
        PAGE: identifier of the section with the whole answer, where a campaign has such cells.
    """

    SECTION: str
    PAGE: str

    def section(self, record: Mapping[str, Any]) -> Section | None:
        """Return what is known without cells of the study; None where nothing is known."""

    def sentences(self, record: Mapping[str, Any], headline: Headline | None) -> list[str | Markup]:
        """Return what the first screen says; `headline` is the answer of the study's page."""


class Content(Protocol):
    """What a page is made of: tables, figures, what a source printed or claims."""

    def parts(self, material: Material) -> Sequence[Part]:
        """Return what is shown; nothing where nothing was measured."""


@dataclass(frozen=True)
class ReferencePage:
    """The page of an experiment that has one section.

    Attributes:
        identifier: of the section.
        title: of the section.
        lead: what a reader has to know.
        contents: what is shown, from top to bottom.
        answer: returns the answer in ten seconds; None for what answers nothing by itself.
    """

    identifier: str
    title: str
    lead: str
    contents: Sequence[Content]
    answer: Callable[[Material], Headline | None] | None = None

    def headline(self, material: Material) -> Headline | None:
        """Return the answer; what is compared with others has none by itself."""
        return self.answer(material) if self.answer else None

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the sentences of the answer as plain lines."""
        headline = self.headline(material)
        return [Markup(said).striptags() for said in headline.sentences] if headline else []

    def sections(self, material: Material) -> list[Section]:
        """Return the one section."""
        parts = tuple(part for content in self.contents for part in content.parts(material))
        return [Section(self.identifier, self.title, self.lead, parts)]
