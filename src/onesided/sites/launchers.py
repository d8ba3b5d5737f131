"""Launchers that ReFrame lacks. They can be named in a site file that imports this module."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from reframe.core.schedulers import Job


@register_launcher("flux-run")
class FluxRun(JobLauncher):
    """``flux run``, which starts ranks as a job of the Flux instance in which it is called.

    ReFrame's own scheduler ``flux`` always gives a job script only one core. Therefore the script
    runs as a local job here, and Flux places the ranks.
    """

    def command(self, job: Job) -> list[str]:
        """Return the command that starts a job's ranks on as many nodes as they need."""
        per_node = job.num_tasks_per_node or job.num_tasks
        nodes = -(-job.num_tasks // per_node)
        return ["flux", "run", f"--nodes={nodes}", f"--ntasks={job.num_tasks}"]
