"""How a kernel is launched: ranks, placement, time limit, and the record of every mpiexec."""

import os
import pathlib
import shlex

import reframe.core.builtins as builtins

from onesided.campaign import records
from onesided.environments import declarations, settings
from onesided.regression import repeats
from onesided.sites import WIRE
from onesided.system import command, strays, wire, writing

from .launcher import LauncherPlugin

LAUNCH_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "launch.sh"
TIME_OUTS_THAT_END_A_SETTING = 2
#: Names the file to which ``launch.sh`` adds a line for each time-out in a row.
TIME_OUTS_VARIABLE = "ONESIDED_TIMEOUTS"
#: A cell may take at most this share of a launch's time-out. Therefore the watchdog reports where
#: each rank is before the launcher is ended.
SHARE_OF_A_CELL = 0.5


class LaunchPlugin(LauncherPlugin):
    """A base class that starts kernels by ``launch.sh``, which times and records each mpiexec."""

    placement = builtins.parameter(["unbound"])
    #: Time after which a launch is ended; seconds.
    launch_timeout_s = builtins.variable(int, value=120)
    #: Time after which a cell counts as a hang; seconds. At most half the launch's time-out.
    cell_timeout_s = builtins.variable(float, value=60.0)

    #: The delay of a message in one direction on the wire of a partition `WIRE`; microseconds.
    wire_delay_us = builtins.variable(float, int, value=500)

    lines_file = repeats.LINES
    launches_file = repeats.LAUNCHES

    @builtins.run_after("init")
    def keep_lines(self):
        """Let ReFrame keep the files that a launch writes."""
        self.keep_files = [f"{self.lines_file}*", self.launches_file]

    @property
    def watchdog_s(self):
        """The seconds after which the kernel's watchdog reports a cell as a hang."""
        return min(self.cell_timeout_s, SHARE_OF_A_CELL * self.launch_timeout_s)

    @builtins.run_before("run")
    def stop_after_time_outs(self):
        """Skip the test if at least two launches in a row timed out with this MPI and setting."""
        folder = os.environ.get(strays.SESSION_MARKER)
        if not folder:
            return
        record = pathlib.Path(folder, f"timeouts-{self.current_environ.name}-{self.setting}")
        named = command.exports({TIME_OUTS_VARIABLE: str(record)})
        self.prerun_cmds = [*self.prerun_cmds, *named]
        if record.exists():
            in_a_row = len(record.read_text().splitlines())
            if in_a_row >= TIME_OUTS_THAT_END_A_SETTING:
                self.skip_with_reason(
                    "not_run",
                    f"{in_a_row} launches in a row timed out with the setting {self.setting}; "
                    "the session runs no more of that setting",
                )

    @builtins.run_after("cleanup", always_last=True)
    def mark_as_passed(self):
        """Leave a mark beside the test's files, for the case that the session is killed later."""
        if strays.SESSION_MARKER in os.environ and not self.is_dry_run():
            mark = pathlib.Path(self.outputdir, records.MARK)
            writing.write_json(mark, {"test": self.display_name})

    @property
    def is_on_wire(self):
        """Whether the partition or the setting needs nodes that this machine simulates."""
        return WIRE in self.current_partition.features or settings.spans_hosts(self.setting)

    @builtins.run_after("setup")
    def skip_without_hosts(self):
        """Skip the test if it needs simulated nodes, but this machine cannot simulate nodes."""
        if not self.is_on_wire:
            return
        if self.current_partition.scheduler.is_local:
            reason = wire.missing()
        else:
            reason = "hosts are made on this machine; the partition's scheduler has others"
        if reason is not None:
            self.skip_with_reason("unavailable", reason)

    def wire_command(self, delay_us=None):
        """Return a command that simulates hosts, and starts a program on the first host."""
        if not self.is_on_wire:
            return []
        delay_us = self.wire_delay_us if delay_us is None else delay_us
        spanning = declarations.spanning([self.environment["family"]])
        joined = wire.Wire(1e-6 * delay_us)
        return wire.command(self.nodes, self.num_tasks_per_node, spanning, joined)

    @builtins.run_before("run")
    def wrap_launcher(self):
        """Add placement options to the launcher, and put ``launch.sh`` before the launcher."""
        if not self.launches_inside:
            self.job.launcher.options += map(shlex.quote, self.placement_options())
        self.job.launcher.modifier = shlex.join([*self.wire_command(), "sh", str(LAUNCH_SCRIPT)])
        self.job.launcher.modifier_options = [
            self.lines_file,
            self.launches_file,
            str(self.launch_timeout_s),
        ]
