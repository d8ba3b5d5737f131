"""Progress: whether a one-sided operation completes while its target computes."""

from onesided.cells.experiment import Study

STUDY = Study("stfc", "Progress, and the shared counter")
