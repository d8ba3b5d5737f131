"""The machine file: what Spack is told of the MPIs, compilers and tools that a machine has."""

from onesided.environments.spack_machine.check import check

__all__ = ["check"]
