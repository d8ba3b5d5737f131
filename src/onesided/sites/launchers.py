"""The launcher that ReFrame lacks (``flux run``), and the programs of ReFrame's own launchers."""

import re

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher
from reframe.core.schedulers import Job

from onesided.sites import SLURM
from onesided.system.processes import ProgramError, ask

#: The program with which Slurm starts ranks.
SRUN = "srun"
#: For each of ReFrame's launchers that an MPI brings, the program.
LAUNCHERS_OF_AN_MPI = {
    **dict.fromkeys(("mpirun", "mpirun-openmpi", "mpirun-intelmpi"), "mpirun"),
    "mpiexec": "mpiexec",
}

#: For each scheduler or launcher, the program that ReFrame calls.
PROGRAMS = {
    **dict.fromkeys(SLURM, "sbatch"),
    **dict.fromkeys(("pbs", "torque"), "qsub"),
    "sge": "qsub",
    "lsf": "bsub",
    "oar": "oarsub",
    "flux": "flux",
    "flux-run": "flux",
    SRUN: "srun",
    "srunalloc": "srun",
    "alps": "aprun",
    "ibrun": "ibrun",
    **dict.fromkeys(("lrun", "lrun-gpu"), "lrun"),
    **LAUNCHERS_OF_AN_MPI,
}
SRUN_TIMEOUT_S = 10.0


@register_launcher("flux-run")
class FluxRun(JobLauncher):
    """``flux run``, which starts ranks as a job of the Flux instance in which it is called.

    ReFrame's own scheduler ``flux`` always gives a job script only one core. Therefore ReFrame runs
    the script as a local job, and Flux places the ranks.
    """

    def command(self, job: Job) -> list[str]:
        """Return the ``flux run`` command that starts a job's ranks on as many nodes as needed."""
        per_node = job.num_tasks_per_node or job.num_tasks
        nodes = -(-job.num_tasks // per_node)
        return ["flux", "run", f"--nodes={nodes}", f"--ntasks={job.num_tasks}"]


def srun_mpi_list() -> list[str]:
    """Return the values that ``srun --mpi`` accepts on this machine, if Slurm lists them."""
    try:
        # srun writes the list to standard error
        return interfaces_in(ask(["sh", "-c", f"{SRUN} --mpi=list 2>&1"], timeout_s=SRUN_TIMEOUT_S))
    except ProgramError:
        return []


def interfaces_in(text: str) -> list[str]:
    """Return the names in the output of ``srun --mpi=list``; none if the output is not a list.

    In this output, each name is on a separate line below a heading. Variants of a name follow the
    words "specific pmix plugin versions available:", separated by commas.
    """
    _, heading, listed = text.partition("MPI plugin types are")
    lines = [line.partition("available:")[2] or line for line in listed.splitlines()[1:]]
    words = {word for line in lines for word in re.split(r"[,\s]+", line)}
    return (
        sorted(word for word in words if re.fullmatch(r"[a-z][a-z0-9_]*", word)) if heading else []
    )
