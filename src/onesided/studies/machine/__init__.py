"""The experiment on how long a machine needs for basic operations without MPI."""

from onesided.cells.experiment import Study

STUDY = Study("machine", "The machine")
