"""What every experiment's check is: a kernel, launched, its lines held against what was asked."""

import shlex

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

from onesided import fingerprint, records

from .kernels import Kernels
from .plugins.environment import EnvironmentPlugin
from .plugins.grid import GridPlugin
from .plugins.launch import LaunchPlugin
from .plugins.setting import SettingPlugin


class OnesidedCheck(
    rfm.RunOnlyRegressionTest, EnvironmentPlugin, SettingPlugin, GridPlugin, LaunchPlugin
):
    """A launch of one kernel that carries all its cells.

    A leaf names `kernel`, `base_point` and the crosses, and says by `headline` which series of
    a cell ReFrame shows.
    """

    #: The kernel: ``src/kernels/<kernel>.c``.
    kernel = builtins.variable(str)
    #: Options of the kernel beyond the cells, by name.
    kernel_options = builtins.variable(typ.Dict[str, str], value={})
    #: For each headline figure: metric (a series), unit, whether lower or higher is better, and
    #: whose samples: "all" ranks or the "origins" (all but rank 0, the target).
    headline = builtins.variable(typ.List[dict], value=[])

    kernels = builtins.fixture(Kernels, scope="environment")

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None

    @builtins.run_before("run")
    def call_kernel(self):
        """Put the kernel and its options together."""
        launch_model = self.current_partition.extras.get("launch_model", "native")
        labels = {
            "environment": self.environment["name"],
            "setting": self.setting,
            "launch_model": launch_model,
        }
        options = {
            "output": self.lines_file,
            "thread-level": self.thread_level,
            "placement": self.placement,
            **self.kernel_options,
        }
        # a seed of its own for every launch: launches are replicates
        seed = "--seed $(date +%s)"
        self.executable = str(self.kernels.prefix_of_kernels / "bin" / self.kernel)
        self.executable_opts = [
            "--missing",
            seed,
            *(f"--{name} {shlex.quote(value)}" for name, value in options.items()),
            *(f"--label {shlex.quote(f'{key}={value}')}" for key, value in labels.items()),
            *self.cell_options(),
        ]

    @property
    def launch_record(self):
        """The lines of this test's launch, read once it is over."""
        return records.read_launch(
            f"{self.stagedir}/{self.lines_file}", f"{self.stagedir}/{self.launches_file}"
        )

    @builtins.sanity_function
    def every_cell_is_right(self):
        """Hold each declared cell's line against what was declared; name the first that fails."""
        launch = self.launch_record
        outcomes = records.outcomes(
            launch,
            self.declared_cells(),
            records.Expectation.of(
                self.environment, self.ranks, self.placement, fingerprint.kernel_source_state()
            ),
        )
        failed = [
            f"{cell}: {outcome.status}: {outcome.detail}"
            for cell, outcome in outcomes.items()
            if outcome.status in records.FAILURES
        ]
        return sn.assert_true(
            not failed, f"{len(failed)} of {len(outcomes)} cells failed; {failed[:1]}"
        )

    @builtins.run_before("performance")
    def show_headline_figures(self):
        """Make a performance variable of each cell's headline series: the median of its samples."""
        self.perf_variables = {}
        for cell, result in self.launch_record.results.items():
            for figure in self.headline:
                samples = records.samples_of(result, figure["metric"], figure["ranks"])
                if samples:
                    self.perf_variables[f"{figure['metric']}[{cell}]"] = (
                        sn.make_performance_function(sn.defer(_median(samples)), figure["unit"])
                    )


def _median(samples):
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return (ordered[middle] + ordered[~middle]) / 2
