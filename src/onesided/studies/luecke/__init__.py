"""Experiments on five communication patterns, each with messages, gets or puts."""

from onesided.cells.experiment import Study

STUDY = Study("luecke", "Five patterns, three interfaces")
