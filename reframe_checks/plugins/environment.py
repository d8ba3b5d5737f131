"""A check's view of its environment. If something is missing, the check is skipped with reason."""

import functools
import json
import os
import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import fingerprint, kernels, shell

LOWEST_LEVEL = "single"

#: Several calls ask for it in each test; sources do not change while a ReFrame runs.
source_state = functools.cache(fingerprint.kernel_source_state)
#: The folders of kernels, by environment and thread level.
_prefixes = {}


class EnvironmentPlugin(RegressionTestPlugin):
    """Gives a test its environment's document. Skips a test that cannot run, with a reason."""

    @property
    def environment(self):
        """The document of the environment (environment.json), as the site file passed it."""
        return self.current_environ.extras["onesided"]

    def folder_of_kernels(self, thread_level=LOWEST_LEVEL):
        """Return the folder with ``bin/<kernel>``, also if it is inside a container."""
        key = self.environment["name"], thread_level
        if key not in _prefixes:
            _prefixes[key] = kernels.prefix_of(self.environment, thread_level)
        return _prefixes[key]

    def program(self, kernel, thread_level):
        """Return the path of a kernel."""
        return self.folder_of_kernels(thread_level) / "bin" / kernel

    def skip_with_reason(self, verdict, reason):
        """Skip this test, and write the reason where the session finds it.

        ReFrame's report does not have the reasons of skips, so they would be lost.

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
        """Skip the test if the environment could not be provided."""
        if self.environment["status"] != "ready":
            self.skip_with_reason("unavailable", self.environment["reason"])

    @builtins.run_before("compile")
    def set_variables_of_build(self):
        """Set the environment's variables in the script that builds."""
        self.prebuild_cmds = [*shell.of_environment(self.environment), *self.prebuild_cmds]

    @builtins.run_before("run")
    def set_variables_of_run(self):
        """Set the environment's variables in the script that runs, before a setting's variables."""
        self.prerun_cmds = [*shell.of_environment(self.environment), *self.prerun_cmds]
