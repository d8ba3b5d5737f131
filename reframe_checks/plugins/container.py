"""Let ReFrame's container platform run kernels in containers, as the launch model says."""

import os
import shlex

import reframe.core.builtins as builtins

from onesided.environments import containers

from .launcher import LauncherPlugin

#: ReFrame's name for the runtime.
PLATFORM = "Apptainer"


def takes_options(platform):
    """Tell whether a container platform of ReFrame accepts the options of Apptainer."""
    return platform in (PLATFORM, "Singularity")


class ContainerPlugin(LauncherPlugin):
    """A base class that runs a check's command in the environment's container image.

    With the launch model `contained`, the MPI's launcher also runs inside the container. With other
    launch models, the launcher starts the container once for each rank.
    """

    @builtins.run_before("run", always_last=True)
    def enter_container(self):
        """Let ReFrame start the kernel in the container image."""
        if not containers.is_entered(self.environment):
            return
        words = [self.executable, *self.executable_opts]
        if self.launches_inside:
            words = [*map(shlex.quote, self.launcher_words()), *words]
        self.container_platform = PLATFORM if self.is_ours else self.definition["platform"]
        platform = self.container_platform
        platform.image = shlex.quote(self.environment["container"]["image"])
        platform.command = " ".join(words)
        # the stage folder has the same path inside, so that paths are valid inside and outside; a
        # container does not have the places of links
        folder = os.path.realpath(self.stagedir)
        platform.mount_stagedir = folder
        platform.workdir = shlex.quote(folder)
        if takes_options(platform.name):
            words = containers.exec_options(self.environment)
            platform.options = [shlex.quote(word) for word in words]
