"""`onesided references [propose] RESULTS_DIR`: keep a campaign's results for checks to compare.

Without `propose` it keeps the verdicts alone: a check fails when a cell that was independent waits.
With `propose` it also keeps the latencies. Each latency has a bound, or the reason why it has no
bound. A check in regression mode fails above the bound. With the bound is the slow-down that the
bound would miss.
"""

import argparse

from onesided.cli.command import RESULTS, argument, command

PROPOSE = "propose"


@command(
    "references",
    "write references/ from a campaign: verdicts, with `propose` latencies and bounds",
    argument(
        "what",
        nargs="?",
        choices=[PROPOSE],
        help="also the latencies, with bounds from the measured spread",
    ),
    RESULTS,
    argument("--replace", action="store_true", help="replace the references that exist already"),
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Write one file per partition and environment; print the paths and the proposals."""
    from onesided.measure.cell_verdicts import read_verdicts
    from onesided.regression import references

    if options.what == PROPOSE:
        from onesided.regression import propose
        from onesided.studies import find

        found = propose.documents_of(options.results, find())
        references.write(found, options.replace)
        for path, document in found.items():
            first, *figures = propose.describe(document)
            print(f"{path}: {first}", *figures, sep="\n")
        return 0
    cells = read_verdicts(options.results / "verdicts.json")
    found = references.documents_of(cells, options.results.resolve().name)
    references.write(found, options.replace)
    for path in found:
        print(path)
    return 0
