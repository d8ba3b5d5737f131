"""Experiments on three exchanges of messages, each with two-sided and with one-sided calls."""

from onesided.cells.experiment import Study

STUDY = Study("llnl", "Three exchanges, two-sided and one-sided")
