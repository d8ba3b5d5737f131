"""The progress page of a synthetic campaign, and its tables."""

from __future__ import annotations

import csv
import io

from made_up import progress

from onesided import report
from onesided.measure.analyse import analyse
from onesided.studies import find


def made(folder, *arguments, **options):
    """Return the page of a synthetic campaign."""
    progress.campaign(folder, *arguments, **options)
    analyse(folder, find())
    return report.build(report.load(folder, find()), single_file=True)


def rows_of(page, name):
    return list(csv.DictReader(io.StringIO((page.parent / f"{name}.csv").read_text("utf-8"))))
