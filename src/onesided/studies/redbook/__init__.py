"""Two-sided or collective? Messages and collective calls of the Redbook SG24-5611."""

from onesided.cells.experiment import Study

STUDY = Study("redbook", "Two-sided, one-sided or collective")
