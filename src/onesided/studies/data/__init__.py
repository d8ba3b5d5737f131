"""Whether the bytes are right."""

from onesided.cells.experiment import Study
from onesided.studies.data import answer

STUDY = Study("data", "Is the data right?", answer)
