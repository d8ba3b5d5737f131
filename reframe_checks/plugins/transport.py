"""Find out a launch's transport: a preceding untimed launch prints the MPI's debug report."""

import pathlib
import shlex

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import containers, fingerprint, settings, transport
from onesided.system import paths, surroundings

from .environment import source_state

REPORT_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "transport_report.sh"


class TransportPlugin(RegressionTestPlugin):
    """A base class that keeps a report for each window flavor (``transport-<flavor>.txt``).

    The untimed launch has the same launcher, options, ranks, thread level and variables as the
    timed launch. ``build/transports`` keeps each report for all tests whose launches are alike, so
    a report is made only once. Kernels in an image of a site's own container platform get no
    transport report.
    """

    #: Seconds after which a launch for a report is ended; the report keeps the output so far.
    transport_timeout_s = builtins.variable(int, value=20)

    @builtins.run_before("run", always_last=True)
    def ask_for_transport(self):
        """Put the untimed launch with debug output before the timed launch."""
        flavors = sorted(
            {labels["flavor"] for labels in self.declared_cells().values() if "flavor" in labels}
        )
        asked = transport.REPORT_VARIABLES.get(self.environment["family"])
        is_entered = containers.is_entered(self.environment)
        if not flavors or not asked or (is_entered and not self.is_ours):
            return
        options = {
            "thread-level": self.thread_level,
            "placement": self.placement_asked,
            **transport.REPORT_OPTIONS,
        }
        kernel = [
            str(self.program(transport.REPORT_KERNEL, self.thread_level)),
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        ]
        words = [*self.wire_command(delay_us=0), *self.launcher_words()]
        # a container does not have the places of links
        folder = pathlib.Path(self.stagedir).resolve()
        command = containers.command(self.environment, words, kernel, folder)
        order = "side_by_side" if self.current_partition.scheduler.is_local else "in_turn"
        self.prerun_cmds.append(
            shlex.join(
                [
                    "env",
                    *(f"{name}={value}" for name, value in asked.items()),
                    *("sh", str(REPORT_SCRIPT), str(self._cache(asked, command, folder))),
                    *(str(self.transport_timeout_s), order, " ".join(flavors)),
                    *command,
                ]
            )
        )
        self.keep_files = [*self.keep_files, *(f"transport-{flavor}.txt" for flavor in flavors)]

    def _cache(self, asked, command, folder):
        """Return the folder that keeps the transport reports of all launches like this one."""
        environment = self.environment
        setting = settings.value(self.setting, environment["family"], environment["version"])
        state = fingerprint.of_document(
            {
                "declaration": environment["declaration_digest"],
                "kernels": source_state(transport.REPORT_KERNEL),
                "script": REPORT_SCRIPT.read_text(encoding="utf-8"),
                "partition": self.current_partition.fullname,
                "setting": setting.variables,
                "asked": dict(asked),
                "command": [word.replace(str(folder), "") for word in command],
                "time-out": self.transport_timeout_s,
                # the caller's variables may change the transport, like the variables of a setting
                "inherited": surroundings.kept(),
            }
        )[: fingerprint.DIGITS]
        return paths.build_dir() / "transports" / environment["name"] / state
