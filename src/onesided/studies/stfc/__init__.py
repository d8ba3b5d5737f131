"""The study of progress: does a one-sided operation complete while its target computes?"""

from onesided.cells.experiment import Study

STUDY = Study("stfc", "Progress, and the shared counter")
