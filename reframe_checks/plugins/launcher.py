"""Which launcher starts the ranks, and on how many nodes. Only this module decides this.

A launcher belongs to a partition, but an MPI belongs to an environment. If a partition launches
with `srun`, Slurm itself starts those MPIs that it can start (the partition's extra `srun_mpi` says
how). All other MPIs use their own launcher, which takes the nodes from its job. If an MPI is
launched inside a container, its launcher is in the image, and ReFrame's container platform calls
it.
"""

import shlex

import reframe.core.builtins as builtins
from reframe.core.backends import getlauncher
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import containers
from onesided.sites import SLURM

from .ranks import nodes_of

SRUN = "srun"
#: The environment's own launcher, found through its `PATH`.
OWN_LAUNCHER = "mpiexec"
#: ReFrame's launcher for a program that brings its own launcher.
NO_LAUNCHER = "local"
#: Options for `srun`, in place of the options for the MPI's own launcher.
SRUN_PLACEMENT = {"unbound": ["--cpu-bind=none"], "core": ["--cpu-bind=cores"]}
SRUN_OVERSUBSCRIBE = ["--overcommit"]


class LauncherPlugin(RegressionTestPlugin):
    """Chooses the launcher by partition and family. Places ranks on nodes as declared."""

    @property
    def ranks_per_node(self):
        """How many ranks each node gets on this partition; all ranks if nobody says."""
        return nodes_of(self.current_partition).ranks_of_one(self.ranks)

    @property
    def nodes(self):
        """How many nodes the ranks need. The last node gets the remaining ranks."""
        return -(-self.ranks // self.num_tasks_per_node)

    @builtins.run_after("setup")
    def place_ranks(self):
        """Ask the scheduler for this number of ranks on each node, and for the nodes."""
        self.num_tasks_per_node = self.ranks_per_node
        if self.current_partition.scheduler.registered_name in SLURM:
            # ReFrame's own --nodes leaves out the node that gets fewer ranks than the others
            self.job.options = [*self.job.options, f"--nodes={self.nodes}"]

    @builtins.run_after("setup")
    def skip_what_wants_more_nodes(self):
        """Skip if the partition says that a job gets fewer nodes than these ranks need."""
        most = nodes_of(self.current_partition).number or self.nodes
        if self.nodes > most:
            self.skip_with_reason(
                "unavailable",
                f"{self.ranks} ranks, {self.num_tasks_per_node} a node, want {self.nodes} nodes; "
                f"{self.current_partition.fullname} has {most}",
            )

    @builtins.run_after("setup")
    def choose_launcher(self):
        """Use the environment's own launcher if `srun` cannot start the environment's ranks.

        If launcher and ranks are in one container, let ReFrame start this container.
        """
        if self.launches_inside:
            self.job.launcher = getlauncher(NO_LAUNCHER)()
        elif self._is_srun() and self._srun_mpi() is None:
            self.job.launcher = getlauncher(OWN_LAUNCHER)()

    @property
    def launches_inside(self):
        """Whether the launcher is in the container with the ranks."""
        return containers.launches_inside(self.environment)

    def placement_options(self):
        """Return the launcher's options for the declared placement and for too few cores."""
        return self.launcher_options(self.placement, is_oversubscribed=self.is_oversubscribed)

    @property
    def is_oversubscribed(self):
        """Whether a node gets more ranks than it has cores, if this is known here."""
        return self.num_tasks_per_node > nodes_of(self.current_partition).cores

    def launcher_words(self):
        """Return the launcher and all its options, which come before a kernel."""
        if self.launches_inside:
            path = self.environment["launcher"]["path"]
            return [path, "-n", str(self.num_tasks), *self.placement_options()]
        self.job.num_tasks = self.num_tasks
        # ReFrame passes its words to a shell as text
        text = " ".join([*self.job.launcher.command(self.job), *self.job.launcher.options])
        return shlex.split(text)

    def launcher_options(self, placement, is_oversubscribed):
        """Return the options of the chosen launcher.

        :arg placement: `unbound` or `core`.
        :arg is_oversubscribed: whether a node gets more ranks than it has cores.
        """
        launcher = self.job.launcher.registered_name
        if launcher == OWN_LAUNCHER or self.launches_inside:
            own = self.environment["launcher"]
            crowded = own["oversubscribe"] if is_oversubscribed else []
            return [*own["placement"][placement], *crowded]
        of_partition = self.current_partition.extras.get("launcher_placement", {})
        if launcher != SRUN:
            return list(of_partition.get(placement, []))
        crowded = SRUN_OVERSUBSCRIBE if is_oversubscribed else []
        options = of_partition.get(placement, SRUN_PLACEMENT[placement])
        return [f"--mpi={self._srun_mpi()}", *options, *crowded]

    def _is_srun(self):
        return self.job.launcher.registered_name == SRUN

    def _srun_mpi(self):
        return self.current_partition.extras.get("srun_mpi", {}).get(self.environment["family"])
