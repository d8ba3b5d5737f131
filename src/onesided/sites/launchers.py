"""Launchers that ReFrame has not; a site file that imports this module can name them."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from reframe.core.schedulers import Job


@register_launcher("flux-run")
class FluxRun(JobLauncher):
    """``flux run``: ranks as a job of the Flux instance that the caller is in.

    ReFrame's own scheduler ``flux`` gives a job script one core whatever the test asks for, so
    here the script is a local one, and Flux places the ranks.
    """

    def command(self, job: Job) -> list[str]:
        """Return the call for a job's ranks, on as many nodes as their number a node wants."""
        per_node = job.num_tasks_per_node or job.num_tasks
        nodes = -(-job.num_tasks // per_node)
        return ["flux", "run", f"--nodes={nodes}", f"--ntasks={job.num_tasks}"]
