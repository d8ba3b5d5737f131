"""What a launch is held against besides what was declared: references, and known defects."""

import reframe.core.builtins as builtins
import reframe.utility.typecheck as typ
from reframe.core.logging import getlogger
from reframe.core.pipeline import RegressionTestPlugin

from onesided import known_defects, references


class ReferencePlugin(RegressionTestPlugin):
    """Reads what the site keeps of a test, and holds the lines of its launch against it."""

    #: Whether a headline figure above the bound that the site keeps fails the test; the mode
    #: ``regression`` sets it. In a campaign launches are replicates, and none fails by its times.
    hold_figures = builtins.variable(typ.Bool, value=False)

    @property
    def kept(self):
        """What the site keeps of this test under its environment."""
        partition = self.current_partition
        return references.read(
            partition.fullname.partition(":")[0],
            partition.name,
            self.environment["name"],
            self.display_name,
        )

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
        """Return the `Probe` of a result line that references are held against, or None."""

    def turned_cells(self, results):
        """Return a line for each cell whose verdict in `references/` these results belie."""
        kept = self.kept.verdicts
        probes = {
            cell: probe
            for cell, result in results.items()
            if cell in kept and (probe := self.probe_of_cell(result)) is not None
        }
        return references.turned(kept, probes)

    def figure_bounds(self, results):
        """Return ReFrame's reference of each figure that is held, known slow ones excused."""
        kept = self.kept
        if not self.hold_figures or not kept.figures:
            return {}
        metrics = [figure["metric"] for figure in self.headline]
        found = references.bounds(kept, results, metrics)
        if not found:
            reason = references.why_none(results)
            getlogger().warning(f"none of {len(kept.figures)} figures is held: {reason}")
        slow = [defect for defect in self.known_defects if defect.shows_as == known_defects.SLOW]
        excused = {
            references.figure_name(metric, cell): defect.message
            for cell in results
            for defect in slow
            if defect.has(cell)
            for metric in metrics
        }
        return {
            name: builtins.xfail(excused[name], bound) if name in excused else bound
            for name, bound in found.items()
        }

    def cells_of_defects(self, statuses):
        """Return for each known defect, but slow ones, the cells that show it.

        :arg statuses: how each cell at fault shows it: its status, or that its verdict turned.
        """
        defects = [one for one in self.known_defects if one.shows_as != known_defects.SLOW]
        found = known_defects.expected(defects, statuses)
        return {defect: found[defect.name] for defect in defects}
