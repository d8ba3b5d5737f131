"""Tests of what Spack is told of this machine."""
