"""What a check knows of its environment, and the skip with a recorded reason when it lacks it."""

import json
import os
import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import shell


class EnvironmentPlugin(RegressionTestPlugin):
    """Gives a test its environment's document; skips what cannot run, with the reason kept."""

    @property
    def environment(self):
        """The document of the environment (environment.json), as the site file handed it over."""
        return self.current_environ.extras["onesided"]

    def skip_with_reason(self, verdict, reason):
        """Skip this test and leave the reason where the session finds it.

        ReFrame's report does not hold reasons of skips, so that they would be lost.

        :arg verdict: the word that the test's cells get in the report.
        :arg reason: one line.
        """
        folder = os.environ.get("ONESIDED_SESSION")
        if folder:
            record = {"test": self.display_name, "verdict": verdict, "reason": reason}
            with pathlib.Path(folder, "skips.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")
        self.skip(reason)

    @builtins.run_after("setup")
    def skip_unavailable_environment(self):
        """Skip where the environment could not be provided."""
        if self.environment["status"] != "ready":
            self.skip_with_reason("unavailable", self.environment["reason"])

    @builtins.run_before("compile")
    def set_variables_of_build(self):
        """Set the environment's variables in the script that builds."""
        self.prebuild_cmds = [*shell.of_environment(self.environment), *self.prebuild_cmds]

    @builtins.run_before("run")
    def set_variables_of_run(self):
        """Set the environment's variables in the script that runs, before those of a setting."""
        self.prerun_cmds = [*shell.of_environment(self.environment), *self.prerun_cmds]
