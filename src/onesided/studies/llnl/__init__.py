"""Three exchanges of messages, two-sided and one-sided."""

from onesided.cells.experiment import Study

STUDY = Study("llnl", "Three exchanges, two-sided and one-sided")
