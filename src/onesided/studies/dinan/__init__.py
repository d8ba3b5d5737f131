"""Five experiments on MPI-3's one-sided interface beside MPI-2's."""

from onesided.cells.experiment import Study

STUDY = Study("dinan", "MPI-3 beside MPI-2, five experiments")
