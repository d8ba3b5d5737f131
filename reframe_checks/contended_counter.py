"""What does a number from a shared counter cost if several ranks ask for numbers at once?

Source: our own definition; a closed queue with one server (Lazowska, Zahorjan, Graham and Sevcik,
"Quantitative System Performance", 1984, chapter 5).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.system import wire

from .common.on_wire import OnWire
from .plugins.ranks import ranks_of

SYNCHRONISATIONS = ["lock_exclusive", "lock_all_flush"]
ACCESSES = 6
#: The number of messages in sequence: in an access to the counter, and at a cell's begin and end.
MESSAGES_OF_ACCESS, MESSAGES_OF_CELL = 6, 80
START_S = 0.02


@rfm.simple_test
class ContendedCounter(OnWire):
    """Several ranks take numbers from a counter on another host; its owner waits in MPI."""

    descr = "a shared counter that several ranks want at once"
    kernel = "contended_counter"
    tags = {"contention"}
    #: Ranks wait for cores, because there are more ranks than cores. The delays are much longer.
    delay_us = builtins.parameter([10_000, 20_000, 40_000])
    ranks = ranks_of(4, 8)
    kernel_options = {"accesses": str(ACCESSES)}
    base_point = {
        "synchronisation": "lock_exclusive",
        "flavor": "allocate",
        "origins": 1,
        "delay_us": 10_000,
    }

    @property
    def ranks_per_node(self):
        """Return the number of ranks on each host, which is as small as possible."""
        return -(-self.ranks // wire.MOST_HOSTS)

    def ways(self):
        """Return the combinations of axis values, without the axis of the wire delay.

        The numbers of origins are 1, 2, 4, …, and the number of all ranks outside the target's
        host.
        """
        others = self.ranks - self.ranks_per_node
        doubled = [2**power for power in range(others.bit_length())]
        return [{"synchronisation": SYNCHRONISATIONS, "origins": sorted({*doubled, others} - {0})}]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell: mostly the time of its messages on the wire."""
        turns = int(labels["origins"]) * (ACCESSES + 2)
        return START_S + 1e-6 * self.delay_us * (MESSAGES_OF_CELL + MESSAGES_OF_ACCESS * turns)
