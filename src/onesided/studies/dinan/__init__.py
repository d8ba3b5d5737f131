"""Experiments that compare the one-sided interfaces of MPI-3 and MPI-2."""

from onesided.cells.experiment import Study

STUDY = Study("dinan", "MPI-3 beside MPI-2")
