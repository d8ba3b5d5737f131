"""The MPIs, the ways to provide each of them, and the kernels that are built with it."""
