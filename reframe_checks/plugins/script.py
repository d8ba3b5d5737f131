"""Job scripts in a folder whose path has blanks, because ReFrame would split the command there."""

import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.sites import LOCAL

#: The folder of a process, by a path that never has a blank.
HERE = pathlib.Path("/proc/self/cwd")


def _name(job, folder):
    """Let ReFrame write and start a local job's script with its path below a folder."""
    # a test that only builds has no job to run
    if job is not None and job.scheduler.registered_name == LOCAL:
        # ReFrame has no public way to set this name
        job._script_filename = str(folder / pathlib.Path(job.script_filename).name)


class ScriptPlugin(RegressionTestPlugin):
    """Names scripts by their working folder while they start; then restores their own names."""

    @builtins.run_before("compile", always_last=True)
    def name_build_script(self):
        """Name the build script by the folder in which it is started."""
        _name(self.build_job, HERE)

    @builtins.run_after("compile")
    def rename_build_script(self):
        """Give the script its own name back, so that ReFrame can copy it."""
        _name(self.build_job, pathlib.Path())

    @builtins.run_before("run", always_last=True)
    def name_run_script(self):
        """Name the run script by the folder in which it is started."""
        _name(self.job, HERE)

    @builtins.run_after("run")
    def rename_run_script(self):
        """Give the script its own name back, so that ReFrame can copy it."""
        _name(self.job, pathlib.Path())
