"""Provide the declared MPIs, describe them, and build kernels with them."""
