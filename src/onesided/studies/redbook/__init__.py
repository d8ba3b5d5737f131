"""Two-sided or collective?

The study asks when collective calls are faster than messages, as in the Redbook SG24-5611.
"""

from onesided.cells.experiment import Study

STUDY = Study("redbook", "Two-sided, one-sided or collective")
