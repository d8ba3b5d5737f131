"""The progress page: the answer, the truth table, the probe, where it waits, price, what to use."""

from __future__ import annotations

from onesided.experiments.progress.page import answer, price, probe, truth, use, waiting
from onesided.experiments.progress.page.answer import answer_row, said_of, why_nothing
from onesided.report.cells import apart
from onesided.report.material import Material
from onesided.report.parts import Headline, Section

__all__ = ["headline", "sections", "terminal_lines"]


def headline(material: Material) -> Headline:
    """Return the answer, a row an environment, and a partition where there are several."""
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
        price.section(split),
    ]
    return [section for section in found if section is not None]


def terminal_lines(material: Material) -> list[str]:
    """Return the answer as plain lines, one an environment."""
    recommended = {advice.environment: advice for advice in use.first_advice(material)}
    material = apart(material)
    lines = []
    for environment in material.environments:
        row = answer_row(material, environment)
        words = said_of(row)
        if words is None:
            lines.append(f"{environment}: {why_nothing(row)}")
            continue
        counts = f"{row['independent']} of {row['judged']} cells, {row['waits']} wait"
        line = f"{environment}: {words} ({counts})"
        chosen = recommended[environment].chosen
        lines.append(f"{line}; {chosen.setting} helps" if chosen else line)
    return lines
