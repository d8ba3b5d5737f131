"""Launchers that ReFrame does not have. A site file that imports this module can name them."""

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from reframe.core.schedulers import Job


@register_launcher("flux-run")
class FluxRun(JobLauncher):
    """``flux run``: starts ranks as a job of the caller's Flux instance.

    ReFrame's own scheduler ``flux`` always gives a job script only one core. Therefore the script
    runs as a local job here, and Flux places the ranks.
    """

    def command(self, job: Job) -> list[str]:
        """Return the call that starts a job's ranks, on the number of nodes that the ranks need."""
        per_node = job.num_tasks_per_node or job.num_tasks
        nodes = -(-job.num_tasks // per_node)
        return ["flux", "run", f"--nodes={nodes}", f"--ntasks={job.num_tasks}"]
