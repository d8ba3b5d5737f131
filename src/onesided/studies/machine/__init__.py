"""The times that the machine itself needs for basic operations, without MPI."""

from onesided.cells.experiment import Study

STUDY = Study("machine", "The machine")
