"""What does it take when two processes send each other a message at once?"""

from onesided.experiments.exchanges import exchange
from onesided.experiments.studies import REDBOOK

EXPERIMENT = exchange(__name__, "Two-way exchange", order=50, study=REDBOOK)
