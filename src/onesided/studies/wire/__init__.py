"""The study of accesses between nodes: how many round trips each access takes."""

from onesided.cells.experiment import Study

STUDY = Study("wire", "Between nodes")
