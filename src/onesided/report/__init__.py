"""The report of a campaign: HTML files that need nothing else, and a CSV a table and figure."""

from onesided.report.build import build
from onesided.report.material import load
from onesided.report.terminal import terminal_summary

__all__ = ["build", "load", "terminal_summary"]
