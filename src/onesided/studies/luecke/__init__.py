"""Five communication patterns with messages, gets and puts."""

from onesided.cells.experiment import Study

STUDY = Study("luecke", "Five patterns, three interfaces")
