"""The experiments: each is a package of this folder, found by being there.

A package has an `EXPERIMENT` (kernel, title, what is compared), a module `analysis` and a module or
package `page`. Nothing else in the analysis or the report knows an experiment.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from onesided.experiments.experiment import Analysis, Experiment, FigureOfMerit

__all__ = ["EXPERIMENTS", "Analysis", "Experiment", "FigureOfMerit", "find", "merits"]


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


def merits() -> Mapping[str, FigureOfMerit]:
    """Return kernel name to what is compared, of the experiments that have it."""
    return {name: entry.merit for name, entry in EXPERIMENTS.items() if entry.merit is not None}
