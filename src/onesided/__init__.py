"""Find out which MPI lets one-sided communication progress while the target computes."""

__version__ = "0.1.0"
