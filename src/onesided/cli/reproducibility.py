"""`onesided reproducibility FIRST SECOND`: do two runs of one campaign say the same?"""

from __future__ import annotations

import argparse

from onesided.cli.command import argument, command
from onesided.system import paths


@command(
    "reproducibility",
    "compare two runs of one campaign on one machine: six figures",
    argument(
        "first", type=paths.campaign_results, help="folder of results of one run, or its name"
    ),
    argument("second", type=paths.campaign_results, help="the same of another"),
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Print the figures, what moved and the verdicts that turned; return 1 unless all hold."""
    from onesided.compare import reproducibility
    from onesided.studies import find

    pairs = reproducibility.pairs(options.first, options.second, find())
    figures = reproducibility.figures(pairs)
    for line in [
        *reproducibility.lines(figures),
        *reproducibility.moved(pairs),
        *reproducibility.turned(pairs),
    ]:
        print(line)
    return 0 if all(figure.holds for figure in figures) else 1
