"""The report of a campaign: one HTML file that needs nothing else, and a CSV a table and figure."""

from onesided.report.frame import build, terminal_summary

__all__ = ["build", "terminal_summary"]
