"""Only this module decides which launcher starts the ranks, and on how many nodes.

In ReFrame, a launcher belongs to a partition, but an MPI belongs to an environment. On a partition
with the launcher `srun`, Slurm starts the ranks of some MPIs. The partition's extra `srun_mpi`
names the families of these MPIs, and the value of `srun --mpi` for each. MPIs of other families use
their own launcher, which reads the job's nodes from the scheduler. If an MPI is launched inside a
container, the MPI's launcher is in the image. ReFrame's container platform then starts the launcher
inside the container. An environment of a site's own configuration always uses the partition's
launcher.
"""

import functools
import shlex

import reframe.core.builtins as builtins
from reframe.core.backends import getlauncher
from reframe.core.pipeline import RegressionTestPlugin

from onesided.campaign.outcomes import AS_LAUNCHED
from onesided.environments import containers, declarations, settings
from onesided.sites import SLURM

from .ranks import nodes_of

SRUN = "srun"
#: The environment's own launcher, found through its `PATH`.
OWN_LAUNCHER = "mpiexec"
#: ReFrame's launcher for a program that brings its own launcher.
NO_LAUNCHER = "local"
#: For each launcher: options for ranks that may run on every core, for ranks that each keep to one
#: core, and for more ranks than cores. Without an entry, the launcher decides where ranks run.
_SRUN = {
    "unbound": ["--cpu-bind=none"],
    "core": ["--cpu-bind=cores"],
    "crowded": ["--overcommit"],
}
_FLUX = {"unbound": ["-o", "cpu-affinity=off"], "core": ["-o", "cpu-affinity=per-task"]}
_PALS = {"unbound": ["--cpu-bind", "none"], "core": ["--cpu-bind", "core"]}
OPTIONS = {
    **dict.fromkeys((SRUN, "srunalloc"), _SRUN),
    **dict.fromkeys(("flux", "flux-run"), _FLUX),
    **dict.fromkeys(("palsrun", "pals"), _PALS),
    "alps": {"unbound": ["-cc", "none"], "core": ["-cc", "cpu"]},
    "jsrun": {"unbound": ["--bind", "none"], "core": ["--bind", "packed:1"]},
}
#: Cached, because each test calls it several times. Declarations do not change while ReFrame runs.
families = functools.cache(declarations.families)
#: For each launcher that is part of an MPI: the family whose options it accepts. None: the
#: environment's own family.
FAMILY_OF = {
    "mpirun-openmpi": "openmpi",
    "mpirun-intelmpi": "impi",
    **dict.fromkeys(("mpirun", OWN_LAUNCHER)),
}


class LauncherPlugin(RegressionTestPlugin):
    """A base class that chooses the launcher, and places ranks on nodes as the test declares."""

    @property
    def ranks_per_node(self):
        """How many ranks each node of this partition gets; by default, one node gets all ranks."""
        if settings.spans_hosts(self.setting):
            return 1
        return nodes_of(self.current_partition).ranks_of_one(self.ranks)

    @property
    def nodes(self):
        """How many nodes the ranks need. The last node gets the remaining ranks."""
        return -(-self.ranks // self.num_tasks_per_node)

    @builtins.run_after("setup")
    def place_ranks(self):
        """Ask the scheduler for `ranks_per_node` ranks on each node, and for enough nodes."""
        self.num_tasks_per_node = self.ranks_per_node
        if self.current_partition.scheduler.registered_name in SLURM:
            # ReFrame's own --nodes leaves out the node that gets fewer ranks than the others
            self.job.options = [*self.job.options, f"--nodes={self.nodes}"]

    @builtins.run_after("setup")
    def skip_what_wants_more_nodes(self):
        """Skip the test if a job on this partition gets fewer nodes than the test's ranks need."""
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
        elif self.is_ours and self._is_srun() and self._srun_mpi() is None:
            self.job.launcher = getlauncher(OWN_LAUNCHER)()

    @property
    def launches_inside(self):
        """Whether the launcher and the ranks are in the same container."""
        return containers.launches_inside(self.environment)

    def placement_options(self):
        """Return the launcher's options for the placement and for over-subscribed nodes."""
        return self.launcher_options(self.placement, is_oversubscribed=self.is_oversubscribed)

    @property
    def is_oversubscribed(self):
        """Whether a node gets more ranks than it has cores, as far as ReFrame knows the cores."""
        return self.num_tasks_per_node > nodes_of(self.current_partition).cores

    def launcher_words(self):
        """Return the launcher command with its options, without the path of the kernel."""
        if self.launches_inside:
            path = self.environment["launcher"]["path"]
            return [path, "-n", str(self.num_tasks), *self.placement_options()]
        self.job.num_tasks = self.num_tasks
        # ReFrame gives a shell this command as text
        text = " ".join([*self.job.launcher.command(self.job), *self.job.launcher.options])
        return shlex.split(text)

    def launcher_options(self, placement, is_oversubscribed):
        """Return the options of the chosen launcher for a placement: `unbound` or `core`."""
        options = self._options_of_launcher()
        of_mpi = [f"--mpi={self._srun_mpi()}"] if self._is_srun() and self._srun_mpi() else []
        crowded = options.get("crowded", []) if is_oversubscribed else []
        return [*of_mpi, *options.get(placement, []), *crowded]

    @property
    def placement_asked(self):
        """The wanted placement of ranks; `AS_LAUNCHED` if the launcher has no option for it."""
        return self.placement if self.placement in self._options_of_launcher() else AS_LAUNCHED

    def _options_of_launcher(self):
        """Return the launcher's options for each placement and for over-subscribed nodes.

        The partition's extra `launcher_placement` replaces some of these options.
        """
        name = self.job.launcher.registered_name
        if self.launches_inside or (self.is_ours and name == OWN_LAUNCHER):
            own = self.environment["launcher"]
            return {**own["placement"], "crowded": own["oversubscribe"]}
        options = dict(OPTIONS.get(name, {}))
        if name in FAMILY_OF:
            family = FAMILY_OF[name] or self.environment["family"]
            data = families().get(family, {})
            options = {**data.get("placement", {}), "crowded": data.get("oversubscribe", [])}
        return {**options, **self.current_partition.extras.get("launcher_placement", {})}

    def _is_srun(self):
        return self.job.launcher.registered_name == SRUN

    def _srun_mpi(self):
        return self.current_partition.extras.get("srun_mpi", {}).get(self.environment["family"])
