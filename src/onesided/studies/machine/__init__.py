"""The costs of the machine itself, without MPI."""

from onesided.cells.experiment import Study

STUDY = Study("machine", "The machine")
