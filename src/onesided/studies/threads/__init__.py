"""Experiments on several threads of one process that access a window."""

from onesided.cells.experiment import Study

STUDY = Study("threads", "Threads that communicate")
