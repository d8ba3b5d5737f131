"""Tests of the kernels under each MPI: data, lines, faults."""
