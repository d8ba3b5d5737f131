"""The shared counter's page: the answer, Table 1, Figure 1, the probe, degradation, latency."""

from __future__ import annotations

from onesided.report.cells import apart
from onesided.report.material import Material
from onesided.report.parts import Headline, Section
from onesided.studies.stfc.shared_counter.page import answer
from onesided.studies.stfc.shared_counter.page.cells import way_rows
from onesided.studies.stfc.shared_counter.page.contenders import contenders
from onesided.studies.stfc.shared_counter.page.performance import (
    figure1_measured,
    figure1_published,
)
from onesided.studies.stfc.shared_counter.page.probe import figure_probe
from onesided.studies.stfc.shared_counter.page.tables import degradation, latency, table1

__all__ = ["headline", "sections", "terminal_lines", "way_rows"]


def headline(material: Material) -> Headline:
    """Return the answer, a row per environment, and a partition where there are several."""
    return answer.headline(apart(material))


def sections(material: Material) -> list[Section]:
    """Return the counter's sections, in the order in which they are read."""
    material = apart(material)
    published = figure1_published()
    measured = figure1_measured(material)
    figure1 = Section(
        "counter-figure1",
        "Figure 1, then and now",
        "Communication performance, the source's first figure of merit: the time of a compute "
        "over the time of an access, on a logarithmic axis.",
        tuple(part for part in (published, measured) if part is not None),
    )
    found: list[Section | None] = [table1(material), figure1]
    probe = figure_probe(material)
    if probe is not None:
        lead = (
            "What the verdicts rest on, sample by sample: whether an access returned while the "
            "target provably still computed."
        )
        found.append(Section("counter-probe", "The probe", lead, (probe,)))
    found += [contenders(material), degradation(material), latency(material)]
    return [section for section in found if section is not None]


def terminal_lines(material: Material) -> list[str]:
    """Return the answer as plain lines."""
    return [sentence.striptags() for sentence in headline(material).sentences]
