"""Experiments of the Redbook SG24-5611 on puts, threads, servers and files."""

from onesided.cells.experiment import Study

STUDY = Study("redbook_threads", "Puts, threads and servers")
