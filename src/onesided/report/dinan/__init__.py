"""The pages of the study of MPI-3's one-sided interface."""
