"""Two-sided, one-sided or collective? The experiments without threads of the Redbook SG24-5611."""

from onesided.cells.experiment import Study

STUDY = Study("redbook", "Two-sided, one-sided or collective")
