"""The progress page: the answer, truth table, the probe, where it waits, latency, what to use."""

from __future__ import annotations

from onesided.report.cells import apart
from onesided.report.material import Material
from onesided.report.parts import Headline, Section
from onesided.studies.stfc.progress.page import answer, latency, probe, truth, use, waiting
from onesided.studies.stfc.progress.page.ways import way_rows

__all__ = ["headline", "sections", "terminal_lines", "way_rows"]


def headline(material: Material) -> Headline:
    """Return the answer, a row per MPI, and per partition where there are several."""
    return answer.headline(apart(material), use.first_advice(material))


def sections(material: Material) -> list[Section]:
    """Return the sections, in the order in which they are read."""
    split = apart(material)
    found = [
        # these two tell places apart by themselves
        truth.section(material),
        use.section(material),
        probe.section(split),
        waiting.section(split),
        latency.section(split),
    ]
    return [section for section in found if section is not None]


def terminal_lines(material: Material) -> list[str]:
    """Return the answer as plain lines."""
    said = answer.sentences(apart(material), use.first_advice(material))
    return [sentence.striptags() for sentence in said]
