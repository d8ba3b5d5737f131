"""What a container costs, and whether the ABI is free: environments in images beside native ones.

A launch model is an environment of its own and nothing is pooled: each is compared with the native
environment of its MPI in the same campaign, cell by cell.
"""

from onesided.report.containers.sections import sections

__all__ = ["sections"]
