"""Which algorithm of an all-to-all is the fastest, by messages, by puts or by the library?"""

from onesided.experiments.exchanges import exchange
from onesided.experiments.studies import REDBOOK

EXPERIMENT = exchange(__name__, "All-to-all algorithms", order=53, study=REDBOOK)
