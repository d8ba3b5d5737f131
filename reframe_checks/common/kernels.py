"""The kernels of an environment. CMake builds them once; a provider's kernels are verified."""

import pathlib
import shlex
import sys

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn

from onesided.environments import containers, kernels, shell

from ..plugins.environment import EnvironmentPlugin
from ..plugins.script import ScriptPlugin


class Kernels(rfm.CompileOnlyRegressionTest, EnvironmentPlugin, ScriptPlugin):
    """Fixture: the folder with this environment's kernels, for the current sources."""

    build_locally = True
    sourcesdir = None

    @property
    def prefixes(self):
        """The folders with ``bin/<kernel>``: one, or a provider's folder for each level."""
        delivered = self.environment["kernels_prefix"]
        if delivered:
            return [pathlib.Path(prefix) for prefix in delivered.values()]
        return [self.folder_of_kernels()]

    @property
    def wanted(self):
        """The wanted kernels: all of a provider; for other environments maybe only some."""
        return kernels.chosen(self.environment["library"])

    @builtins.run_before("compile")
    def call_cmake(self):
        """Build the kernels, unless the provider delivered them."""
        self.build_system = "CustomBuild"
        if self.environment["kernels_prefix"]:
            self.build_system.commands = []
            return
        words = kernels.build_command(self.environment, self.prefixes[0], self.wanted)
        self.build_system.commands = [
            shell.path_first(pathlib.Path(sys.executable).parent),
            shlex.join(words),
        ]

    @builtins.sanity_function
    def binaries_are_there(self):
        """Expect, in each folder, a binary for each wanted kernel."""
        # kernels of an image were compared with its sources when the image was read
        is_inside = containers.is_entered(self.environment)
        names = [] if is_inside else self.wanted
        binaries = [prefix / "bin" / name for prefix in self.prefixes for name in names]
        return sn.all(sn.assert_true(path.is_file(), f"{path} is missing") for path in binaries)
