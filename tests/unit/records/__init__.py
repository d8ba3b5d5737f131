"""Tests of how the files of a launch are read."""
