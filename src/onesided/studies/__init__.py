"""The studies: one folder for each study, with a module or a package for each experiment.

Each module or package of an experiment defines `EXPERIMENT`. This package finds experiments by the
name `EXPERIMENT`, without a list of modules. Packages on which this package builds, such as
`onesided.report`, do not import experiments. A command or a check finds the experiments here and
passes them on.
"""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from onesided.cells.experiment import Experiment, Experiments
from onesided.system.errors import InputError

ANALYSIS = ("launch_values", "pooled_samples", "evidence", "judge")
"""The methods that an analysis must have (`onesided.cells.experiment.Analysis`)."""
PAGE = ("headline", "sections", "terminal_lines")
"""The methods that a page must have (`onesided.report.page.Page`)."""


def _experiments() -> Iterator[Experiment]:
    for study in pkgutil.iter_modules(__path__, f"{__name__}."):
        folder = importlib.import_module(study.name).__path__
        for module in pkgutil.iter_modules(folder, f"{study.name}."):
            found = getattr(importlib.import_module(module.name), "EXPERIMENT", None)
            if found is not None:
                yield found


@functools.cache
def find() -> Experiments:
    """Return the experiments of all studies."""
    return Experiments(_experiments)


@functools.cache
def of_kernel(kernel: str) -> Experiment | None:
    """Return a kernel's experiment, or None if the kernel has no experiment.

    No other experiment is loaded.
    """
    for study in pkgutil.iter_modules(__path__, f"{__name__}."):
        folder = importlib.import_module(study.name).__path__
        if any(module.name == kernel for module in pkgutil.iter_modules(folder)):
            return getattr(importlib.import_module(f"{study.name}.{kernel}"), "EXPERIMENT", None)
    return None


def demand(kernels: Iterable[str]) -> None:
    """Check that each kernel has an experiment with an analysis and a page.

    Raises:
        InputError: a kernel has no such experiment; the message says what is missing.
    """
    folder = Path(__file__).parent
    for kernel in kernels:
        entry = of_kernel(kernel)
        if entry is None:
            expected = f"the experiment of the kernel {kernel}, which a check launches"
            raise InputError(folder, kernel, "no module", expected)
        parts = (("analysis", entry.analysis, ANALYSIS), ("page", entry.page, PAGE))
        for part, found, expected in parts:
            missing = [name for name in expected if not callable(getattr(found, name, None))]
            if missing:
                lacking = f"no {', '.join(missing)}"
                raise InputError(folder / kernel, part, lacking, ", ".join(expected))
