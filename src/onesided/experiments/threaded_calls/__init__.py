"""How many messages a second do several threads send, and what does a level of threads cost one?"""

from onesided.experiments.exchanges import TIME
from onesided.experiments.experiment import timed
from onesided.experiments.studies import REDBOOK_THREADS

EXPERIMENT = timed(__name__, "Threaded calls", order=64, study=REDBOOK_THREADS, time=TIME)
