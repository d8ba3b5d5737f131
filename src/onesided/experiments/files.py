"""What the experiments on files have in common."""

from __future__ import annotations

from onesided.experiments.metric import Metric

TIME = Metric("time", "time", "s", "max")
"""An access to a file: the largest time of all ranks that take part."""

FILE_SYSTEM = Metric("file_system", "file_system", "count")
"""The number that statfs gives a file system."""

RESIDENT = Metric("resident", "resident", "1")
"""The share of a file that is in the page cache when an operation begins."""

BANDWIDTH, BANDWIDTH_UNIT = "bandwidth", "B/s"
