"""What does it take until each rank has the points around its block of a grid?"""

from onesided.experiments.exchanges import TIME
from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

COMMUNICATION = Metric("communication", "communication", "s", "max")
"""The exchange of a pass that ends with an update."""

MESSAGES = Metric("messages", "messages", "count")
"""The messages that a rank sends in a pass."""

SENT_BYTES = Metric("sent_bytes", "sent_bytes", "count")
"""The bytes of all ranks together that go to another rank in a pass."""

EXPERIMENT = timed(__name__, "Halo", order=56, study=REDBOOK, time=TIME, more=[COMMUNICATION])
