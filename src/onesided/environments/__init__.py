"""The MPIs, the ways to provide an MPI, and the kernels that are built with an MPI."""
