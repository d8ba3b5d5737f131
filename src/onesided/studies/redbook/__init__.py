"""Experiments of the Redbook SG24-5611 that compare messages with collective calls."""

from onesided.cells.experiment import Study

STUDY = Study("redbook", "Two-sided, one-sided or collective")
