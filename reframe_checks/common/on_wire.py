"""Checks on several simulated hosts; a wire with a delay joins these hosts."""

import reframe.core.builtins as builtins

from onesided.sites import WIRE

from .one_setting import OneSetting


class OnWire(OneSetting):
    """A test that has one launch for each delay of the wire.

    The report draws a line through the launches' times. A subclass has the parameter `delay_us`,
    the delay in one direction in microseconds, and the method `ways`.
    """

    valid_systems = [f"+{WIRE}"]
    delay_us = builtins.parameter()

    @builtins.run_after("init")
    def choose_crosses(self):
        """Declare the cells with the wire delay of this launch."""
        self.wire_delay_us = self.delay_us
        self.crosses = [{**cross, "delay_us": [self.delay_us]} for cross in self.ways()]
