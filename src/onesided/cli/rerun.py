"""`onesided rerun ENVIRONMENT CELL`: launch a cell of a report again, and compare the verdicts.

The cell is launched as in its campaign: ranks, thread level, setting, options, launcher and
placement do not change. The line of a cell in a report contains everything that identifies the
cell.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onesided.cli.command import KEEP_ENVIRONMENT, RESULTS, argument, command
from onesided.system.errors import InputError

if TYPE_CHECKING:
    from onesided.rerun.cell_line import Found
    from onesided.rerun.launch import Again


@command(
    "rerun",
    "run a cell of a report again, one launch",
    argument("environment", help="a name in config/environments.yaml"),
    argument("cell", help="of any kernel: axis=value,axis=value, as a report shows it"),
    argument(
        "--test",
        metavar="WORDS",
        help="words of the name of the cell's test, where several tests have the cell: "
        "'thread_level=multiple ranks=4'",
    ),
    argument(
        "--partition", metavar="SYSTEM:NAME", help="where the cell was run on several partitions"
    ),
    argument(
        "--results",
        metavar="CAMPAIGN",
        help="a folder of results, or the name of its campaign (default: quick, or the newest "
        "results that have the cell)",
    ),
    KEEP_ENVIRONMENT,
    description=__doc__,
    epilog="Exit status: 0 unless both verdicts are decided and differ (1), or nothing could "
    "be launched (1); 2 bad input.",
)
def run(options: argparse.Namespace) -> int:
    """Print the old and the new verdict of a cell; return 1 if two decided verdicts differ, else 0.

    Raises:
        InputError: an environment, the results or the cell are not known; nothing was installed.
        OnesidedError: the environment is unavailable.
    """
    # these load polars
    from onesided import studies
    from onesided.campaign import grid
    from onesided.cells.verdicts import UNDECIDED
    from onesided.rerun import cell_line, launch

    grid.labels_of(options.cell)
    asked = cell_line.Asked(options.environment, options.cell, options.test, options.partition)
    found = cell_line.find(asked, options.results)
    print(f"{options.environment}: {found.entry['test']}\n{options.cell}", flush=True)
    again = launch.again(found, studies.find(), lambda line: print(line, flush=True))
    for line in lines(found, again):
        print(line)
    print(f"files of this launch: {launch.folder()}")
    both = {again.word, found.entry["verdict"]}
    return 1 if len(both) > 1 and UNDECIDED not in both else 0


def lines(found: Found, again: Again) -> list[str]:
    """Return lines with a cell's old and new verdict, and with its old and new value if known."""
    entry = found.entry
    before = f"in {found.folder}"
    now = "now, of one launch"
    width = max(len(before), len(now))
    launches = f"{entry['valid_launches']} of {entry['launches']} launches valid"
    early = None if again.early is None else f"early fraction {again.early:.2f}"
    words = {
        before: (entry["verdict"], launches, entry["detail"]),
        now: (again.word, early, again.detail),
    }
    said = [
        f"{where + ':':{width + 1}} {', '.join(word for word in own if word)}"
        for where, own in words.items()
    ]
    return [*said, *_values(found, again)]


def _values(found: Found, again: Again) -> list[str]:
    """Return lines of output with the compared value: from this launch and from the report."""
    from onesided import studies
    from onesided.rerun import launch

    if again.merit is None:
        return []
    row = again.merit
    name = f"{row['metric'].replace('_', ' ')}, {row['statistic'].replace('_', ' ')}"
    before = launch.merit_before(found, studies.find())
    value = _shown(row, "value")
    if before is None:
        return [f"{name}: {value} in this launch; the report has none"]
    between = f"{_shown(before, 'low')} to {_shown(before, 'high')}"
    return [f"{name}: {value} in this launch; {_shown(before, 'value')} ({between}) in the report"]


def _shown(row: Mapping[str, Any], key: str) -> str:
    from onesided.report import numbers

    value, unit = row[key], row["unit"]
    shown = {"s": numbers.seconds, "B/s": numbers.rate, "1/s": numbers.per_second}.get(unit)
    text = shown(value) if shown else f"{value:.3g}{'' if unit == '1' else ' ' + unit}"
    return text.replace(numbers.THIN_SPACE, " ")


@command(
    "advice",
    "run again what a report's advice files claim",
    argument("files", type=Path, nargs="+", metavar="FILE", help="advice/<name>.sh or .txt"),
    KEEP_ENVIRONMENT,
    description="Source an advice file, run its claims again, and say whether they hold.",
)
def advice(options: argparse.Namespace) -> int:
    """Test the claims of an advice file; print a line for each claim; return 1 if a claim is false.

    Raises:
        InputError: a file claims nothing or names an environment that is not there.
    """
    from onesided.studies.stfc.progress import rerun
    from onesided.system import surroundings

    surroundings.say()
    failed = 0
    for path in options.files:
        for result in rerun.rerun(path, print):
            claim = result.claim
            word = "holds" if result.holds else f"does not hold: {result.verdict.word}"
            print(f"{claim.environment} {claim.test} {claim.cell} {claim.verdict}: {word}")
            failed += not result.holds
    return 1 if failed else 0


def _latency(text: str) -> float:
    """Return a time in seconds: a number with a unit, such as ``1.3us``."""
    number = text.rstrip("nmus")
    unit = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}.get(text[len(number) :])
    try:
        found = float(number) * (unit or math.nan)
    except ValueError:
        found = math.nan
    if not found >= 0:
        expected = "a time with its unit, such as 1.3us"
        raise InputError("estimate: --latency", None, text, expected)
    return found


@command(
    "estimate",
    "say what each call costs on your network, from the round trips of a campaign",
    RESULTS,
    argument("--latency", required=True, metavar="TIME", help="one way, such as 1.3us"),
    argument("--environment", metavar="NAME", help="of one MPI (default: of all)"),
    argument(
        "--origins",
        type=int,
        default=1,
        metavar="N",
        help="of a shared counter that N ranks want at once, by a model (docs/wire.md)",
    ),
    description="For each way to access a target: its round trips, as the campaign wire has "
    "counted them, times twice the latency of your network; and the work of the calls on the "
    "machine of the campaign. Latency is the time of a short message in one direction, as "
    "benchmarks of MPI print it.",
)
def estimate(options: argparse.Namespace) -> int:
    """Print the expected time of each kind of access on a network with the given latency.

    Raises:
        InputError: the time is none, or the campaign has counted no round trips.
    """
    from onesided import report, studies
    from onesided.report import numbers
    from onesided.studies.wire import round_trips

    latency_s = _latency(options.latency)
    if options.origins < 1:
        raise InputError("estimate: --origins", None, str(options.origins), "1 or more")
    loaded = report.load(options.results, studies.find())
    kernel = round_trips.EXPERIMENT.kernel
    rows = [
        row
        for material in loaded.materials()
        if material.experiment.kernel == kernel
        for row in round_trips.estimated(material, latency_s, options.origins)
        if options.environment in (None, row["environment"])
    ]
    if not rows:
        known = f"cells of {kernel}, as the campaign wire has them"
        raise InputError(options.results, "cells", "no round trips", known)
    width = max(len(str(row["environment"])) for row in rows)
    for row in rows:
        way = "{operation:<16} {synchronisation:<20} {flavor:<9} {size_bytes:>8} bytes".format(
            **row
        )
        took = numbers.seconds(row["network"])
        words = f"{row['trips']:>10} round trips  {took:>9} on the network"
        work = numbers.seconds(row["work"])
        print(f"{row['environment']:<{width}}  {way}  {words}, {work} of work here")
    return 0
