"""Tests of the kernels: data, lines, faults, under each MPI."""
