"""What every experiment's check is: a kernel, launched, its lines held against what was asked."""

import shlex

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

from onesided import fingerprint, records, references

from .kernels import Kernels
from .plugins.environment import EnvironmentPlugin
from .plugins.grid import GridPlugin
from .plugins.launch import LaunchPlugin
from .plugins.path import PathPlugin
from .plugins.setting import SettingPlugin


class OnesidedCheck(
    rfm.RunOnlyRegressionTest,
    EnvironmentPlugin,
    SettingPlugin,
    GridPlugin,
    LaunchPlugin,
    PathPlugin,
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

    #: What a launch of all cells takes on an otherwise idle machine, about; seconds.
    expected_s = builtins.variable(float, value=0.0, loggable=True)

    kernels = builtins.fixture(Kernels, scope="environment")

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None

    def seconds_of_cell(self, labels):
        """Return what a cell takes, about, in seconds; a leaf may know better."""
        return 0.1

    def probe_of_cell(self, result):
        """Return the `Probe` of a result line that references are held against, or None."""

    @builtins.run_after("init")
    def expect_duration(self):
        """Add up the cells, for a campaign to say how long it will take."""
        self.expected_s = sum(map(self.seconds_of_cell, self.declared_cells().values()))

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
        """Hold each cell against what was declared and what the site keeps; name the first fault.

        A cell that was independent and waits in this launch fails whatever its times are.
        """
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
        turned = self.turned_cells(launch)
        return sn.all(
            [
                sn.assert_true(
                    not failed, f"{len(failed)} of {len(outcomes)} cells failed; {failed[:1]}"
                ),
                sn.assert_true(not turned, f"{len(turned)} verdicts turned; {turned[:1]}"),
            ]
        )

    def turned_cells(self, launch):
        """Return a line for each cell whose verdict in `references/` this launch belies."""
        partition = self.current_partition
        kept = references.read(
            partition.fullname.partition(":")[0],
            partition.name,
            self.environment["name"],
            self.display_name,
        )
        probes = {
            cell: probe
            for cell, result in launch.results.items()
            if cell in kept and (probe := self.probe_of_cell(result)) is not None
        }
        return references.turned(kept, probes)

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
