"""The study of data: do one-sided operations leave the right bytes in memory?"""

from onesided.cells.experiment import Study
from onesided.studies.data import answer

STUDY = Study("data", "Is the data right?", answer)
