"""Launchers that ReFrame does not have; a site file that imports this module can name them."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from reframe.core.schedulers import Job


@register_launcher("flux-run")
class FluxRun(JobLauncher):
    """``flux run``: starts ranks as a job of the caller's Flux instance.

    ReFrame's own scheduler ``flux`` always gives a job script one core. So the script is a local
    one here, and Flux places the ranks.
    """

    def command(self, job: Job) -> list[str]:
        """Return the call for a job's ranks, on the number of nodes that they need."""
        per_node = job.num_tasks_per_node or job.num_tasks
        nodes = -(-job.num_tasks // per_node)
        return ["flux", "run", f"--nodes={nodes}", f"--ntasks={job.num_tasks}"]
