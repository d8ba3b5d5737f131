"""What the machine itself takes, without MPI."""

from onesided.cells.experiment import Study

STUDY = Study("machine", "The machine")
