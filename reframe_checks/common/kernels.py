"""The kernels of an environment. CMake builds them once; a provider's kernels are verified.

`kernels_fixture` chooses a fixture: `Kernels` only builds, `SiteKernels` also runs the probe.
"""

import pathlib
import shlex
import sys

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.exceptions import BuildError, SanityError

from onesided.environments import containers, kernels, probe, shell, site_mpi
from onesided.system import command, writing

from ..plugins.container import takes_options
from ..plugins.environment import OURS, EnvironmentPlugin
from ..plugins.ranks import partitions
from ..plugins.script import ScriptPlugin

SITE_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "site_kernels.sh"


def kernels_fixture():
    """Return `SiteKernels` if a partition has an environment of the site's own, else `Kernels`."""
    environs = [one for partition in partitions() for one in partition.environs]
    is_ours = all(OURS in one.extras for one in environs)
    return Kernels if is_ours else SiteKernels


class Kernels(rfm.CompileOnlyRegressionTest, EnvironmentPlugin, ScriptPlugin):
    """Fixture: the folder with this environment's kernels, for the current sources."""

    build_locally = True
    sourcesdir = None

    @property
    def prefixes(self):
        """The folders with ``bin/<kernel>``: one, or a provider's folder for each level."""
        delivered = self.environment["kernels_prefix"]
        if delivered:
            return [pathlib.Path(prefix) for prefix in delivered.values()]
        return [self.folder_of_kernels()]

    @property
    def wanted(self):
        """The wanted kernels: all of a provider; for other environments maybe only some."""
        return kernels.chosen(self.environment["library"])

    @builtins.run_before("compile")
    def call_cmake(self):
        """Build the kernels, unless the provider delivered them."""
        self.build_system = "CustomBuild"
        if self.environment["kernels_prefix"]:
            self.build_system.commands = []
            return
        words = kernels.build_command(self.environment, self.prefixes[0], self.wanted)
        self.build_system.commands = [
            shell.path_first(pathlib.Path(sys.executable).parent),
            shlex.join(words),
        ]

    @builtins.sanity_function
    def binaries_are_there(self):
        """Expect, in each folder, a binary for each wanted kernel."""
        # kernels of an image were compared with its sources when the image was read
        is_inside = containers.is_entered(self.environment)
        names = [] if is_inside else self.wanted
        binaries = [prefix / "bin" / name for prefix in self.prefixes for name in names]
        return sn.all(sn.assert_true(path.is_file(), f"{path} is missing") for path in binaries)


class SiteKernels(rfm.RegressionTest, EnvironmentPlugin, ScriptPlugin, special=True):
    """Fixture: kernels of an environment of a site's own configuration, and what its MPI is.

    The job on the partition builds the kernels with the environment's compiler, then launches the
    probe. The findings of the probe become the environment's document. A failure is one line. If
    the environment names an image, the image has the kernels and the document.
    """

    #: On the partition, whose processors and modules may differ from those of the login node.
    build_locally = False
    sourcesdir = None
    num_tasks = num_tasks_per_node = probe.RANKS
    executable = "./probe"
    executable_opts = [site_mpi.FINDINGS]
    time_limit = "5m"

    @builtins.run_after("setup")
    def skip_without_launcher(self):
        """Skip if the partition's launcher starts one process."""
        launcher = self.current_partition.launcher_type.registered_name
        if launcher in site_mpi.WITHOUT_RANKS:
            self.skip_with_reason(
                "unavailable",
                f"{self.current_partition.fullname}: launcher: found {launcher}, which starts no "
                "ranks of an MPI; expected a launcher such as srun or mpirun",
            )

    @builtins.run_after("setup")
    def skip_without_platform(self):
        """Skip if the environment names an image, and the partition has no container platform."""
        if self.definition["image"] and not self.definition["platform"]:
            self.skip_with_reason(
                "unavailable",
                f"{self.current_partition.fullname}: container_platforms: found none; expected one "
                f"for the image {self.definition['image']}",
            )

    @builtins.run_before("run", always_last=True)
    def read_image(self):
        """Print the image's document, in place of a launch of the probe."""
        if not self.definition["image"]:
            return
        self.job.launcher = getlauncher("local")()
        self.container_platform = self.definition["platform"]
        self.container_platform.image = shlex.quote(self.definition["image"])
        self.container_platform.command = f"cat {containers.DOCUMENT}"
        if takes_options(self.container_platform.name):
            self.container_platform.options = containers.exec_words()[1:]

    @builtins.run_before("compile")
    def call_compiler(self):
        """Build the probe and the kernels; an image has its kernels."""
        if self.definition["image"]:
            self.build_system = "CustomBuild"
            self.build_system.commands = []
            return
        pathlib.Path(self.stagedir, "probe.c").write_text(probe.source(), "utf-8")
        words = ["sh", SITE_SCRIPT, kernels.sources(), self.folder_of_kernels()]
        words += [self.current_environ.cc, *kernels.chosen(self.environment["library"])]
        flags = {"CFLAGS": self.current_environ.cflags, "LDFLAGS": self.current_environ.ldflags}
        self.build_system = "CustomBuild"
        self.build_system.commands = [
            shell.path_first(pathlib.Path(sys.executable).parent),
            *shell.exports({name: " ".join(words) for name, words in flags.items() if words}),
            shlex.join(map(str, words)),
        ]

    def compile_wait(self):
        """Wait for the build. Without an MPI, skip; after any other failure, say the reason.

        ReFrame's own message has only the exit status.
        """
        try:
            super().compile_wait()
        except BuildError as fault:
            if self.build_job.exitcode == site_mpi.NO_MPI:
                self.skip_with_reason("unavailable", self._said(self.build_job))
            raise BuildError(self._said(self.build_job) or str(fault)) from None

    @builtins.sanity_function
    def mpi_is_known(self):
        """Write the environment's document, or say in one line why the probe did not work."""
        try:
            if self.job.exitcode:
                raise command.UnavailableError(
                    f"{self.definition['launcher']} exited {self.job.exitcode}: "
                    f"{self._said(self.job)}"
                )
            document = self._document()
        except command.UnavailableError as fault:
            raise SanityError(str(fault)) from None
        writing.write_json(site_mpi.environment_file(self.definition), document)
        return sn.assert_true(document["library_version"])

    def _document(self):
        folder = pathlib.Path(self.stagedir)
        if self.definition["image"]:
            printed = (folder / self.job.stdout).read_text("utf-8", "replace")
            return site_mpi.of_image(self.definition, printed)
        return site_mpi.described(self.definition, folder)

    def _said(self, job):
        """Return the line in which a job says why it failed."""
        folder = pathlib.Path(self.stagedir)
        reason = folder / site_mpi.REASON
        if job is self.build_job and reason.exists():
            return command.one_line(reason.read_text("utf-8"))
        texts = [folder / name for name in (job.stderr, job.stdout)]
        said = "\n".join(path.read_text("utf-8", "replace") for path in texts if path.exists())
        return command.Outcome(1, said).main_line(probe.STACKED)
