"""The analysis of conformance: a cell of which no launch failed is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.analysis.verdicts import RIGHT, Probe, Verdict
from onesided.experiments.conformance import EXPERIMENT
from onesided.experiments.reference import ReferenceAnalysis


class ConformanceAnalysis(ReferenceAnalysis):
    """One launch is enough: values are drawn, but no chance is in what must become of them."""

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return that every byte was right in each launch."""
        return Verdict(RIGHT, None, len(probes))


ANALYSIS = ConformanceAnalysis(EXPERIMENT.metrics, "every byte was compared")
