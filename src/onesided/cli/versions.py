"""`onesided versions FOLDER...`: since which version of an MPI does an access progress?"""

from __future__ import annotations

import argparse
from pathlib import Path

from onesided.cli.command import argument, command
from onesided.system import paths, writing


@command(
    "versions",
    "put the answers of several campaigns side by side",
    argument(
        "folders",
        type=paths.campaign_results,
        nargs="+",
        metavar="FOLDER",
        help="the folder of results of each campaign, or the campaign's name",
    ),
    argument(
        "--page", type=Path, metavar="FOLDER", help="write a page and its CSVs into this folder"
    ),
    description=__doc__,
)
def run(options: argparse.Namespace) -> int:
    """Print what changed between versions, write the page where one is asked for; return 0."""
    if options.page:
        writing.demand_folder("--page", options.page)
    # these load the drawing library
    from onesided.report import versions
    from onesided.studies import find

    every, found = versions.read(options.folders, find())
    for line in versions.sentences(found):
        print(line)
    if options.page:
        print(f"page: {versions.build(every, found, options.page)}")
    return 0
