"""Two-sided, one-sided or collective: experiments of the Redbook SG24-5611 without threads."""

from onesided.cells.experiment import Study

STUDY = Study("redbook", "Two-sided, one-sided or collective")
