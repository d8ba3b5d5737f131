"""The base class of all checks: it launches a kernel and compares results with declarations."""

import contextlib
import functools
import inspect
import math
import os
import pathlib
import shlex
import time

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ

from onesided import studies
from onesided.campaign import outcomes, records
from onesided.measure.statistics import median
from onesided.regression import known_defects, references, repeats
from onesided.system import strays, writing

from ..plugins.container import ContainerPlugin
from ..plugins.environment import EnvironmentPlugin, SettingPlugin, source_state
from ..plugins.grid import GridPlugin
from ..plugins.launch import LaunchPlugin
from ..plugins.ranks import RanksPlugin
from ..plugins.references import UNDECIDED, ReferencePlugin
from ..plugins.script import ScriptPlugin
from ..plugins.transport import TransportPlugin
from .kernels import kernels_fixture


class OnesidedCheck(
    rfm.RunOnlyRegressionTest,
    EnvironmentPlugin,
    SettingPlugin,
    GridPlugin,
    RanksPlugin,
    LaunchPlugin,
    ContainerPlugin,
    TransportPlugin,
    ReferencePlugin,
    ScriptPlugin,
    special=True,
):
    """A test: one launch of one kernel, which measures all cells of the test.

    A subclass sets `kernel`, `base_point` and the crosses (combinations of axis values). The
    kernel's experiment says which values of a cell ReFrame shows.
    """

    #: The kernel's name; its source is ``src/kernels/<study>/<kernel>.c`` or a folder ``<kernel>``.
    kernel = builtins.variable(str)
    #: Options of the kernel, except the options for cells: a mapping from names to values.
    kernel_options = builtins.variable(typ.Dict[str, str], value={})
    #: The figures that ReFrame shows: metric, unit, better direction, and statistic over ranks.
    headline = builtins.variable(typ.List[dict], value=[])

    #: Seconds that a cell takes if each thread has a core, and if two threads share each core.
    cell_s = builtins.variable(float, value=0.1)
    crowded_cell_s = builtins.variable(float, value=0.2)
    #: Approximate time of a launch of all cells on an otherwise idle machine; seconds.
    expected_s = builtins.variable(float, value=0.0, loggable=True)

    #: Whether only a campaign's first round has these cells; true if one launch is enough.
    first_round_only = builtins.variable(bool, value=False)

    kernels = builtins.fixture(kernels_fixture(), scope="environment")

    valid_systems = ["*"]
    #: All environments with MPI, including a site's. Kernels of OpenSHMEM need `+openshmem`.
    valid_prog_environs = ["-openshmem"]
    sourcesdir = None

    def seconds_of_cell(self, labels):
        """Return approximately how many seconds a cell takes. A subclass may estimate better."""
        return self.crowded_cell_s / 2 if self.is_crowded else self.cell_s

    @property
    def slowdown(self):
        """If ranks share cores, a cell's time is `seconds_of_cell` multiplied by this factor."""
        return max(1, self.load)

    @builtins.run_after("init")
    def expect_duration(self):
        """Add up the expected times of this test's cells.

        The campaign estimates its own time from the expected times of all tests. A test is skipped
        and takes no time if its check does not support the number of ranks.
        """
        cells = [] if self.reason_against_ranks else self.declared_points()
        self.expected_s = self.slowdown * math.fsum(map(self.seconds_of_cell, cells))

    @builtins.run_after("init")
    def describe_figures(self):
        """Declare the values that ReFrame shows.

        A kernel without an experiment has no values to show.
        """
        experiment = studies.of_kernel(self.kernel)
        self.metrics = experiment.metrics if experiment else ()
        self.headline = [metric.described() for metric in self.metrics]

    def skip_with_reason(self, verdict, reason):
        """Skip this test, and write its declaration and the reason to a file."""
        self.keep_declaration({"verdict": verdict, "reason": reason})
        super().skip_with_reason(verdict, reason)

    def keep_declaration(self, skip=None):
        """Write a description of this test beside its result lines, for `onesided collect-reframe`.

        The sessions of a campaign write no description, because the campaign itself declares its
        tests. If the test is skipped, `skip` has the verdict and the reason.
        """
        if strays.SESSION_MARKER in os.environ or self.is_dry_run():
            return
        from onesided.campaign import declared, site_runs  # a session needs neither

        def member(name):
            return getattr(self, name)

        file = inspect.getfile(type(self))
        test = declared.test_of(member, file, self.current_partition.fullname)
        document = {
            "schema": site_runs.DECLARATION_SCHEMA,
            "began_s": time.time(),
            "test": {**test, "launch_timeout_s": self.launch_timeout_s},
            "environment": self.environment,
            "kernel": source_state(self.kernel, self.environment["library"]),
            "skip": skip,
        }
        writing.write_json(pathlib.Path(self.stagedir, site_runs.DECLARATION), document)
        self.keep_files = [*self.keep_files, site_runs.DECLARATION]

    @builtins.run_before("run")
    def call_kernel(self):
        """Put the kernel and its options into the job script."""
        self.keep_declaration()
        labels = {
            "environment": self.environment["name"],
            "provider": self.environment["provider"],
            "setting": self.setting,
            "launch_model": self.environment["launch_model"],
            outcomes.RANKS_PER_NODE: str(self.num_tasks_per_node),
        }
        if self.environment["spack"]:
            labels["spack_lock_sha256"] = self.environment["spack"]["lock_sha256"]
        options = {
            "output": self.lines_file,
            "ranks": str(self.ranks),
            "thread-level": self.thread_level,
            "placement": self.placement_asked,
            "cell-timeout-s": f"{self.watchdog_s:g}",
            **self.kernel_options,
        }
        # each launch has a different seed, because launches are replicates
        seed = "--seed $(date +%s)"
        self.executable = shlex.quote(str(self.program(self.kernel, self.thread_level)))
        self.executable_opts = [
            "--missing",
            seed,
            *(f"--{name} {shlex.quote(value)}" for name, value in options.items()),
            *(f"--label {shlex.quote(f'{key}={value}')}" for key, value in labels.items()),
            *self.cell_options(),
        ]

    def run_complete(self):
        """Wait for the end of a local launch without polling, because polling disturbs the launch.

        ReFrame has no hook between the start and the end of a job. Therefore this method replaces a
        method of ReFrame; ReFrame allows this only in a class declared as `special`.
        """
        if self.is_local() and not self.is_dry_run():
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, int(self.job.jobid), os.WEXITED | os.WNOWAIT)
            self.current_partition.scheduler.poll(self.job)
        return super().run_complete()

    @functools.cached_property
    def launch_records(self):
        """The result lines of all launches of this test, read after the last launch ended."""
        return repeats.launches_in(pathlib.Path(self.stagedir))

    @builtins.sanity_function
    def every_cell_is_right(self):
        """Compare each cell with its declaration and the site's references. Name the first fault.

        If a cell is `independent` in the references but `waits` in this launch, the cell fails,
        even if the cell was fast. A fault that a known defect explains is not reported here. For
        such a fault, `show_headline_figures` reports an expected failure in ReFrame's performance
        stage.
        """
        failed, turned = self.faults
        known = {cell for cells in self.known_faults(failed, turned).values() for cell in cells}
        lines = [
            f"{cell}: {outcome.status}: {outcome.detail}"
            for cell, outcome in failed.items()
            if cell not in known
        ]
        turns = [line for cell, line in turned.items() if cell not in known]
        declared = len(self.declared_cells())
        return sn.all(
            [
                sn.assert_true(not lines, f"{len(lines)} of {declared} cells failed; {lines[:1]}"),
                sn.assert_true(not turns, f"{len(turns)} verdicts turned; {turns[:1]}"),
            ]
        )

    @functools.cached_property
    def faults(self):
        """Two mappings: failed cells to outcomes, and cells with changed verdicts to texts."""
        failed, turned = {}, {}
        for launch in reversed(self.launch_records):
            failed |= self.failed_cells(launch)
            turned |= self.turned_cells(launch.results)
        return failed, turned

    def failed_cells(self, launch):
        """Return the outcome of each declared cell that failed in a launch."""
        found = outcomes.of_cells(
            launch,
            self.declared_cells(),
            outcomes.Expectation.of(
                self.environment,
                self.ranks,
                self.placement_asked,
                source_state(self.kernel, self.environment["library"]),
            ),
        )
        return {
            cell: outcome for cell, outcome in found.items() if outcome.status in records.FAILURES
        }

    def known_faults(self, failed, turned):
        """Return, for each known defect, the failing cells that the defect explains."""
        statuses = {cell: outcome.status for cell, outcome in failed.items()}
        return self.cells_of_defects({**dict.fromkeys(turned, known_defects.TURNED), **statuses})

    @builtins.run_before("performance")
    def show_headline_figures(self):
        """Make a ReFrame performance variable for each headline value of each cell.

        The site's references become ReFrame's references for these variables. For each known
        defect, a further variable has the number of cells that show the defect. If any cell shows
        the defect, ReFrame reports an expected failure.
        """
        launches = self.launch_records
        held = self.held_figures(launches)
        self.perf_variables = {}
        figures = [references.launch_figures(one.results, self.metrics) for one in launches]
        for cell in launches[0].results:
            for metric in self.metrics:
                self._show_figure(cell, metric, figures, held)
        bounds = self.references_of(held)
        if self.hold_figures:
            self._show("held_figures", len(bounds), "figures")
            self._show("launches", len(launches), "launches")
            # a test with an undecided figure fails
            self._show(UNDECIDED, len(self.undecided_figures(launches)), "figures")
            bounds[UNDECIDED] = (0, None, 0, "figures")
        faults = self.known_faults(*self.faults)
        for defect, cells in faults.items():
            name = f"known_defect[{defect.name}]"
            self._show(name, len(cells), "cells")
            bounds[name] = builtins.xfail(defect.message, (0, 0, 0, "cells"))
        self.reference = {self.current_partition.fullname: bounds}
        # ReFrame keeps each test until ReFrame ends, and these records may have many samples
        del self.launch_records

    def _show_figure(self, cell, metric, figures, held):
        """Show a cell's headline value: the value that is compared with a bound, or the median."""
        name = references.figure_name(metric.name, cell)
        if values := [of_launch[name] for of_launch in figures if name in of_launch]:
            value = held[name].value if name in held else median(values)
            self._show(name, value, metric.unit)

    def _show(self, name, value, unit):
        self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
