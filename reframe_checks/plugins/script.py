"""Run job scripts in folders whose paths have blanks; ReFrame splits commands at blanks."""

import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.sites import LOCAL

#: The folder of a process, by a path that never has a blank.
HERE = pathlib.Path("/proc/self/cwd")


def _name(job, folder):
    """Let ReFrame write and start the script of a local job by a path in `folder`."""
    # a test that only builds has no job to run
    if job is not None and job.scheduler.registered_name == LOCAL:
        # ReFrame has no public way to set this name
        job._script_filename = str(folder / pathlib.Path(job.script_filename).name)


class ScriptPlugin(RegressionTestPlugin):
    """A base class that starts a job script by a path in /proc/self/cwd, which has no blanks."""

    @builtins.run_before("compile", always_last=True)
    def name_build_script(self):
        """Give the build script a path without blanks: its name in /proc/self/cwd."""
        _name(self.build_job, HERE)

    @builtins.run_after("compile")
    def rename_build_script(self):
        """Give the job script its own name back, so that ReFrame can copy the script."""
        _name(self.build_job, pathlib.Path())

    @builtins.run_before("run", always_last=True)
    def name_run_script(self):
        """Give the run script a path without blanks: its name in /proc/self/cwd."""
        _name(self.job, HERE)

    @builtins.run_after("run")
    def rename_run_script(self):
        """Give the job script its own name back, so that ReFrame can copy the script."""
        _name(self.job, pathlib.Path())
