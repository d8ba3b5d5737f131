"""The experiments: each is a package of this folder, found by being there.

A package has an `EXPERIMENT` (kernel, title, what is compared), a module `analysis` and a module or
package `page`. Nothing else in the analysis or the report knows an experiment.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from onesided.experiments.experiment import Analysis, Experiment, FigureOfMerit
from onesided.system.errors import InputError

__all__ = ["EXPERIMENTS", "Analysis", "Experiment", "FigureOfMerit", "demand", "find", "merits"]

ANALYSIS = ("launch_values", "pooled_samples", "evidence", "judge")
"""What an analysis has (`Analysis`)."""
PAGE = ("headline", "sections", "terminal_lines")
"""What a page has (`onesided.report.page.Page`)."""


def find() -> Mapping[str, Experiment]:
    """Return kernel name to experiment, in the order in which a report shows them."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}").EXPERIMENT
        for module in pkgutil.iter_modules(__path__)
        if module.ispkg
    ]
    return {entry.kernel: entry for entry in sorted(found, key=lambda entry: entry.order)}


EXPERIMENTS: Mapping[str, Experiment] = find()
"""Kernel name to experiment, in the order in which a report shows them."""


def demand(kernels: Iterable[str]) -> None:
    """Expect that each kernel has an experiment with an analysis and a page.

    Raises:
        InputError: one has not; the line says what it lacks.
    """
    folder = Path(__file__).parent
    for kernel in kernels:
        entry = EXPERIMENTS.get(kernel)
        if entry is None:
            expected = f"the experiment of the kernel {kernel}, which a check launches"
            raise InputError(folder / kernel, None, "no package", expected)
        parts = (("analysis", entry.analysis, ANALYSIS), ("page", entry.page, PAGE))
        for part, found, expected in parts:
            missing = [name for name in expected if not callable(getattr(found, name, None))]
            if missing:
                lacking = f"no {', '.join(missing)}"
                raise InputError(folder / kernel / part, None, lacking, ", ".join(expected))


def merits() -> Mapping[str, FigureOfMerit]:
    """Return kernel name to what is compared, of the experiments that have it."""
    return {name: entry.merit for name, entry in EXPERIMENTS.items() if entry.merit is not None}
