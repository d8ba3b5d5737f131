"""Which MPIs there are, how each of them is had, and the kernels that are built with it."""
