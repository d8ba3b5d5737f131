"""What accesses cost between nodes: round trips, on a wire with a delay."""

from onesided.cells.experiment import Study

STUDY = Study("wire", "Between nodes")
