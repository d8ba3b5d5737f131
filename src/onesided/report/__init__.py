"""The report of a campaign: self-contained HTML files, and a CSV file for each table and figure."""

from onesided.report.answers import terminal_summary
from onesided.report.build import build
from onesided.report.material import load

__all__ = ["build", "load", "terminal_summary"]
