"""Puts, threads, servers and files: experiments of the Redbook SG24-5611."""

from onesided.cells.experiment import Study

STUDY = Study("redbook_threads", "Puts, threads and servers")
