"""What does a message take while other pairs exchange messages at the same time?"""

from onesided.experiments.exchanges import exchange
from onesided.experiments.studies import REDBOOK

EXPERIMENT = exchange(__name__, "Adapter sharing", order=58, study=REDBOOK)
