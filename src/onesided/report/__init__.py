"""The report of a campaign: self-contained HTML files, and one CSV for each table and figure."""

from onesided.report.build import build
from onesided.report.material import load
from onesided.report.terminal import terminal_summary

__all__ = ["build", "load", "terminal_summary"]
