"""The kernels (C programs) of an environment: CMake builds them, or a provider delivers them.

CMake builds kernels only once. If a provider delivers kernels, the fixture checks that they exist.
`kernels_fixture` chooses a fixture: `Kernels` only builds kernels; `SiteKernels` also runs a probe,
which finds out which MPI the environment has.
"""

import pathlib
import re
import shlex
import sys

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.exceptions import BuildError, SanityError

from onesided.environments import containers, identity, kernels, probe, site_mpi
from onesided.system import command, writing

from ..plugins.container import takes_options
from ..plugins.environment import OURS, EnvironmentPlugin
from ..plugins.launcher import NO_LAUNCHER, SRUN
from ..plugins.ranks import partitions
from ..plugins.script import ScriptPlugin

#: What the output contains if a program is for another kind of processor. With MPICH's launcher, a
#: shell tries to read such a program.
ANOTHER_PROCESSOR = re.compile(r"\x7fELF|Exec format error|cannot execute binary file")
SITE_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "site_kernels.sh"


def kernels_fixture():
    """Return `SiteKernels` if a partition has an environment of the site's own, else `Kernels`."""
    environs = [one for partition in partitions() for one in partition.environs]
    is_ours = all(OURS in one.extras for one in environs)
    return Kernels if is_ours else SiteKernels


class BuildPlugin(EnvironmentPlugin):
    """Builds the kernels of an environment that config/environments.yaml declares."""

    @property
    def prefixes(self):
        """The folders with ``bin/<kernel>``; a provider may have a folder for each thread level."""
        delivered = self.environment["kernels_prefix"]
        if delivered:
            return [pathlib.Path(prefix) for prefix in delivered.values()]
        return [self.folder_of_kernels()]

    @property
    def wanted(self):
        """The names of the kernels that each folder must contain."""
        return kernels.chosen(self.environment["library"])

    def commands_of_cmake(self):
        """Return the commands that build the kernels; [] if a provider delivered the kernels."""
        if self.environment["kernels_prefix"]:
            return []
        words = kernels.build_command(self.environment, self.prefixes[0], self.wanted)
        return [command.path_first(pathlib.Path(sys.executable).parent), shlex.join(words)]

    def binaries_are_there(self):
        """Check that each folder has a binary for each wanted kernel."""
        # an image's kernels were checked when the image was read
        is_inside = containers.is_entered(self.environment)
        names = [] if is_inside else self.wanted
        binaries = [prefix / "bin" / name for prefix in self.prefixes for name in names]
        return sn.all(sn.assert_true(path.is_file(), f"{path} is missing") for path in binaries)


class Kernels(rfm.CompileOnlyRegressionTest, BuildPlugin, ScriptPlugin):
    """A fixture that builds the kernels of an environment from the current source files."""

    build_locally = True
    sourcesdir = None

    @builtins.run_before("compile")
    def call_cmake(self):
        """Build the kernels, unless the provider delivered them."""
        self.build_system = "CustomBuild"
        self.build_system.commands = self.commands_of_cmake()

    @builtins.sanity_function
    def kernels_are_built(self):
        """Expect all wanted kernels."""
        return self.binaries_are_there()


class SiteKernels(rfm.RegressionTest, BuildPlugin, ScriptPlugin, special=True):
    """Fixture for a site's own environment: finds out which MPI it has, and builds the kernels.

    A job on the partition compiles the probe, a small MPI program, with the environment's compiler.
    A second job launches the probe, and then builds the kernels. The probe's findings are
    written to the environment's document. If the environment names a container image, the image
    already has the kernels and the document. If the probe fails, the test reports the reason in one
    line and builds no kernels. No job probes an environment of config/environments.yaml, because
    the document of this environment already exists.
    """

    #: Build on the partition: its processors and modules may differ from the login node's.
    build_locally = False
    sourcesdir = None
    num_tasks = num_tasks_per_node = probe.RANKS
    executable = "./probe"
    executable_opts = [site_mpi.FINDINGS]
    time_limit = "30m"

    @property
    def image(self):
        """The container image that has the kernels; None if the environment names no image."""
        return None if self.is_ours else self.definition["image"]

    @property
    def has_probe(self):
        """Whether a launch of the probe is needed to find out which MPI the environment has."""
        return not self.is_ours and self.image is None

    @builtins.run_after("setup")
    def skip_without_launcher(self):
        """Skip the test if the partition's launcher always starts only one process."""
        launcher = self.current_partition.launcher_type.registered_name
        if launcher in site_mpi.WITHOUT_RANKS:
            self.skip_with_reason(
                "unavailable",
                f"{self.current_partition.fullname}: launcher: found {launcher}, which starts no "
                "ranks of an MPI; expected a launcher such as srun or mpirun",
            )

    @builtins.run_after("setup")
    def skip_without_platform(self):
        """Skip the test if the partition has no container platform for the environment's image."""
        if self.image and not self.definition["platform"]:
            self.skip_with_reason(
                "unavailable",
                f"{self.current_partition.fullname}: container_platforms: found none; expected one "
                f"for the image {self.image}",
            )

    @builtins.run_after("setup")
    def leave_out_probe(self):
        """Start no ranks if the environment's document already exists or is in an image."""
        if not self.has_probe:
            self.job.launcher = getlauncher(NO_LAUNCHER)()
            self.executable, self.executable_opts = "true", []

    @builtins.run_before("run", always_last=True)
    def read_image(self):
        """Print the image's document."""
        if self.image:
            self.container_platform = self.definition["platform"]
            self.container_platform.image = shlex.quote(self.image)
            self.container_platform.command = f"cat {containers.DOCUMENT}"
            if takes_options(self.container_platform.name):
                self.container_platform.options = containers.exec_words()[1:]

    @builtins.run_before("compile")
    def call_compiler(self):
        """Compile the probe."""
        self.build_system = "CustomBuild"
        if self.is_ours:
            self.build_system.commands = self.commands_of_cmake()
        elif self.image:
            self.build_system.commands = []
        else:
            folder = pathlib.Path(self.stagedir)
            (folder / "probe.c").write_text(probe.source(), "utf-8")
            (folder / "identify.c").write_text(identity.source(), "utf-8")
            self.build_system.commands = self._commands("probe")

    @builtins.run_before("run")
    def ask_slurm_for_its_protocol(self):
        """Let `srun` use the protocol that the extra `srun_mpi` names for the MPI family."""
        said = self.current_partition.extras.get("srun_mpi", {})
        path = pathlib.Path(self.stagedir, site_mpi.IDENTITY)
        if self.definition["launcher"] == SRUN and path.exists():
            value = said.get(site_mpi.family_in(path.read_text("utf-8", "replace")))
            self.job.launcher.options += [f"--mpi={value}"] if value else []

    @builtins.run_before("run")
    def call_cmake(self):
        """Build the kernels after the probe, unless the probe failed."""
        if self.has_probe:
            chosen = kernels.chosen(self.environment["library"])
            self.postrun_cmds = [
                "status=$?; [ $status -eq 0 ] || exit $status",
                *self._commands("kernels", kernels.sources(), self.folder_of_kernels(), *chosen),
            ]

    def _commands(self, what, *words):
        """Return the commands that build the probe or the kernels."""
        environ = self.current_environ
        flags = {"CFLAGS": environ.cflags, "LDFLAGS": environ.ldflags}
        return [
            command.path_first(pathlib.Path(sys.executable).parent),
            *command.exports({name: " ".join(said) for name, said in flags.items() if said}),
            shlex.join(map(str, ["sh", SITE_SCRIPT, what, environ.cc, *words])),
        ]

    def compile_wait(self):
        """Wait for the build. If there is no MPI, skip the test.

        If the build fails for another reason, report this reason. ReFrame's own message would
        contain only the exit status of the build.
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
        if self.is_ours:
            return self.binaries_are_there()
        folder = pathlib.Path(self.stagedir)
        if self.job.exitcode and (self.image or probe.read(folder / site_mpi.FINDINGS) is None):
            raise SanityError(self._said(self.job))
        try:
            if self.image:
                printed = (folder / self.job.stdout).read_text("utf-8", "replace")
                document = site_mpi.of_image(self.definition, printed)
            else:
                document = site_mpi.described(self.definition, folder)
        except command.UnavailableError as fault:
            raise SanityError(str(fault)) from None
        if self.job.exitcode:
            raise SanityError(self._said(self.job))
        writing.write_json(site_mpi.environment_file(self.definition), document)
        return sn.assert_true(document["library_version"])

    def _said(self, job):
        """Return the line of a job's output in which the job says why it failed."""
        folder = pathlib.Path(self.stagedir)
        reason = folder / site_mpi.REASON
        if reason.exists():
            return command.one_line(reason.read_text("utf-8"))
        texts = [folder / name for name in (job.stderr, job.stdout)]
        said = "\n".join(path.read_text("utf-8", "replace") for path in texts if path.exists())
        line = command.Outcome(1, said).main_line(probe.STACKED)
        if job is self.build_job:
            return line
        if ANOTHER_PROCESSOR.search(said):
            line = f"the program of {self.current_environ.cc} is for another processor"
        started = self.definition["platform" if self.image else "launcher"]
        return f"{started} exited {job.exitcode}: {line}"
