"""The report of a campaign: HTML files that need nothing else, and a CSV a table and figure."""

from onesided.report.build import build
from onesided.report.terminal import terminal_summary

__all__ = ["build", "terminal_summary"]
