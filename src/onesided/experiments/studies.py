"""The studies that several experiments belong to."""

from onesided.experiments.experiment import Study

STFC = Study("stfc", "Progress, and the shared counter")
THREADS = Study("threads", "Threads that communicate")
MACHINE = Study("machine", "The machine")
LUECKE = Study("luecke", "Five patterns, three interfaces")
LLNL = Study("llnl", "Three exchanges, two-sided and one-sided")
DINAN = Study("dinan", "MPI-3 beside MPI-2, five experiments")
REDBOOK = Study("redbook", "Two-sided, one-sided or collective")
DATA = Study("data", "Is the data right?")
REDBOOK_THREADS = Study("redbook_threads", "Threads and servers")
