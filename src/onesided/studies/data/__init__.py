"""Whether the bytes are right."""

from onesided.cells.experiment import Study
from onesided.studies.data import brief

STUDY = Study("data", "Is the data right?", brief)
