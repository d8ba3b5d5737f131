"""Comparison of a launch with the site's references and with known defects."""

import pathlib
import shlex
import sys

import reframe.core.builtins as builtins
import reframe.utility.typecheck as typ
from reframe.core.logging import getlogger
from reframe.core.pipeline import RegressionTestPlugin

from onesided.regression import known_defects, references, repeats

UNDECIDED = "undecided_figures"
"""The name of the ReFrame performance variable that counts the undecided values of a test. A test
passes only if it has no undecided value."""

REPEAT_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "repeat.sh"


class ReferencePlugin(RegressionTestPlugin):
    """A base class that compares the results of a test's launch with the site's references."""

    #: Whether a headline figure above the site's bound fails the test, as in the mode
    #: ``regression``. In a campaign, launches are replicates, and no launch fails by its times.
    hold_figures = builtins.variable(typ.Bool, value=False)

    @property
    def references_file(self):
        """The file with the site's references for this test's environment."""
        partition = self.current_partition
        system = partition.fullname.partition(":")[0]
        return references.file_of(system, partition.name, self.environment["name"])

    @property
    def kept(self):
        """The site's references for this test in its environment."""
        return references.read(self.references_file, self.display_name)

    @property
    def known_defects(self):
        """The known defects that this test may show."""
        return [
            defect
            for defect in known_defects.read(references.folder())
            if defect.is_of(
                self.current_partition.fullname, self.environment["name"], self.display_name
            )
        ]

    def probe_of_cell(self, result):
        """Return the valid samples of a result line, or None if the check has no verdicts."""

    def turned_cells(self, results):
        """Return a text for each cell that is independent in the references but now waits."""
        kept = self.kept.verdicts
        probes = {
            cell: probe
            for cell, result in results.items()
            if cell in kept and (probe := self.probe_of_cell(result)) is not None
        }
        return references.turned(kept, probes)

    @builtins.run_before("run", always_last=True)
    def repeat_launches(self):
        """Repeat a launch within its job if measured values are near or above their bounds."""
        if not self.hold_figures or not self.kept.figures:
            return
        question = [
            sys.executable,
            "-m",
            "onesided.regression.repeats",
            str(self.references_file),
            self.display_name,
        ]
        launcher = self.job.launcher
        launcher.modifier_options = [
            *(self.lines_file, self.launches_file, shlex.quote(shlex.join(question))),
            *(launcher.modifier, *launcher.modifier_options),
        ]
        launcher.modifier = f"sh {shlex.quote(str(REPEAT_SCRIPT))}"
        self.keep_files = [*self.keep_files, f"{repeats.EARLIER}*"]

    def held_figures(self, launches):
        """Return a mapping from performance variables to measured values and their bounds."""
        if not self.hold_figures:
            return {}
        return repeats.decided(self.kept, [launch.results for launch in launches])

    def undecided_figures(self, launches):
        """Return the names of undecided values, which may be above or below their bounds.

        A warning lists the names and the reasons. Values that a known defect makes slow are left
        out.
        """
        kept = self.kept
        excused = self.slow_figures()
        results = [launch.results for launch in launches]
        found = [name for name in repeats.undecided(kept, results) if name not in excused]
        if found:
            getlogger().warning(
                f"{len(found)} of {len(kept.figures)} figures are not decided: no launch showed "
                f"them well below their bounds, and fewer than {repeats.LEAST_LAUNCHES} of "
                f"{len(launches)} ran on cores as near and as free as those of the campaign that "
                f"the references are from: {', '.join(found)}"
            )
        return found

    def slow_figures(self):
        """Return the message of the known defect for each value that the defect makes slow."""
        slow = [defect for defect in self.known_defects if defect.shows_as == known_defects.SLOW]
        return {
            references.figure_name(metric, cell): defect.message
            for cell in self.declared_cells()
            for defect in slow
            if defect.has(cell)
            for metric in (metric.name for metric in self.metrics)
        }

    def references_of(self, held):
        """Return ReFrame's references for values with bounds.

        A known slow value may be above its bound.
        """
        excused = self.slow_figures()
        return {
            name: builtins.xfail(excused[name], of.bound) if name in excused else of.bound
            for name, of in held.items()
        }

    def cells_of_defects(self, statuses):
        """Return the cells that show each known defect; leave out defects that make cells slow.

        `statuses` has the status of each failing cell, or the word for a changed verdict.
        """
        defects = [one for one in self.known_defects if one.shows_as != known_defects.SLOW]
        found = known_defects.expected(defects, statuses)
        return {defect: found[defect.name] for defect in defects}
