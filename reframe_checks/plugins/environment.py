"""Give each check its environment and setting; skip a check that cannot run, with a reason."""

import functools
import json
import os
import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import fingerprint, kernels, settings, site_mpi
from onesided.system import command

LOWEST_LEVEL = "single"
#: The name of an extra; site files of this project give it to each environment.
OURS = "onesided"

#: Cached, because each test calls it several times. Sources do not change while ReFrame runs.
source_state = functools.cache(fingerprint.kernel_source_state)
#: The folders of kernels. A key has environment, declaration and thread level, because a site may
#: give different environments on different partitions the same name.
_prefixes = {}


class EnvironmentPlugin(RegressionTestPlugin):
    """A base class that gives a test its environment's document, or skips the test."""

    @property
    def is_ours(self):
        """Whether the environment is declared in config/environments.yaml, not by the site."""
        return OURS in self.current_environ.extras

    @functools.cached_property
    def environment(self):
        """The document that describes the environment (environment.json).

        A site file of this project passes the document to ReFrame. For an environment of a site's
        own configuration, the fixture that builds the kernels also writes the document.
        """
        if self.is_ours:
            return self.current_environ.extras[OURS]
        return site_mpi.read(self.definition)

    @functools.cached_property
    def definition(self):
        """The site's ReFrame configuration of the environment (`site_mpi.Definition`)."""
        partition, environ = self.current_partition, self.current_environ
        local = partition.local_env
        return {
            "partition": partition.fullname,
            "environment": environ.name,
            "cc": environ.cc,
            "flags": [list(environ.cflags), list(environ.ldflags)],
            "modules": [*local.modules, *environ.modules],
            "variables": [dict(local.env_vars), dict(environ.env_vars)],
            "commands": [list(partition.prepare_cmds), list(environ.prepare_cmds)],
            "launcher": partition.launcher_type.registered_name,
            "image": environ.extras.get(site_mpi.IMAGE),
            "platform": partition.container_runtime,
        }

    def folder_of_kernels(self, thread_level=LOWEST_LEVEL):
        """Return the folder with ``bin/<kernel>``; this folder may be inside a container."""
        key = self.environment["name"], self.environment["declaration_digest"], thread_level
        if key not in _prefixes:
            _prefixes[key] = kernels.prefix_of(self.environment, thread_level)
        return _prefixes[key]

    def program(self, kernel, thread_level):
        """Return the path of a kernel's binary for a thread level."""
        return self.folder_of_kernels(thread_level) / "bin" / kernel

    def skip_with_reason(self, verdict, reason):
        """Skip this test, and write the reason to a file of the session (skips.jsonl).

        ReFrame's own report does not say why a test was skipped. In this project's report, the
        test's cells get the verdict `verdict`. The reason is one line.
        """
        folder = os.environ.get("ONESIDED_SESSION")
        if folder:
            record = {
                "test": self.display_name,
                "environment": self.current_environ.name,
                "verdict": verdict,
                "reason": reason,
            }
            with pathlib.Path(folder, "skips.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")
        self.skip(reason)

    @builtins.run_after("setup")
    def skip_unavailable_environment(self):
        """Skip the test if its environment could not be installed or found."""
        if self.environment["status"] != "ready":
            self.skip_with_reason("unavailable", self.environment["reason"])

    @builtins.run_before("compile")
    def set_variables_of_build(self):
        """Set the environment's variables in the build script."""
        self.prebuild_cmds = [*kernels.shell_lines(self.environment), *self.prebuild_cmds]

    @builtins.run_before("run")
    def set_variables_of_run(self):
        """Set the environment's variables in the run script, before the variables of a setting."""
        self.prerun_cmds = [*kernels.shell_lines(self.environment), *self.prerun_cmds]


class SettingPlugin(RegressionTestPlugin):
    """A base class that sets the variables of a setting for the MPI family, or skips the test."""

    #: Named sets of run-time variables.
    setting = builtins.parameter(settings.chosen())

    @builtins.run_after("setup")
    def apply_setting(self):
        """Set the variables of this test's setting."""
        value = settings.value(
            self.setting, self.environment["family"], self.environment["version"]
        )
        if value.unavailable:
            self.skip_with_reason("unavailable", value.unavailable)
        self.prerun_cmds = [*self.prerun_cmds, *command.exports(value.variables)]
