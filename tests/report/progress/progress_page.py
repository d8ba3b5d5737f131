"""The progress page of a synthetic campaign, and its tables."""

from __future__ import annotations

import csv
import io

import synthetic_progress as synthetic

from onesided import report
from onesided.analysis.analyse import analyse


def made(folder, *arguments, **options):
    """Return the page of a synthetic campaign."""
    synthetic.campaign(folder, *arguments, **options)
    analyse(folder)
    return report.build(folder, single_file=True)


def rows_of(page, name):
    return list(csv.DictReader(io.StringIO((page.parent / f"{name}.csv").read_text("utf-8"))))
