"""Local job scripts in a folder whose path has blanks, at which ReFrame takes the command apart."""

import pathlib

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.sites import LOCAL

#: The folder that a process is in, by a path that never has a blank.
HERE = pathlib.Path("/proc/self/cwd")


def _name(job, folder):
    """Have ReFrame write and start a local job's script by its path below a folder."""
    # a test that only builds has no job to run
    if job is not None and job.scheduler.registered_name == LOCAL:
        # ReFrame has no public way to name it
        job._script_filename = str(folder / pathlib.Path(job.script_filename).name)


class ScriptPlugin(RegressionTestPlugin):
    """Names the scripts by the working folder while they are started; by their own name after."""

    @builtins.run_before("compile", always_last=True)
    def name_build_script(self):
        """Name the script that builds by the folder it is started in."""
        _name(self.build_job, HERE)

    @builtins.run_after("compile")
    def rename_build_script(self):
        """Give it its own name back, for ReFrame to copy it."""
        _name(self.build_job, pathlib.Path())

    @builtins.run_before("run", always_last=True)
    def name_run_script(self):
        """Name the script that runs by the folder it is started in."""
        _name(self.job, HERE)

    @builtins.run_after("run")
    def rename_run_script(self):
        """Give it its own name back, for ReFrame to copy it."""
        _name(self.job, pathlib.Path())
