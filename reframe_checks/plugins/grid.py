"""The cells of a launch: a base point, and combinations of axis values (crosses) around it."""

import shlex

import reframe.core.builtins as builtins
import reframe.utility.typecheck as typ
from reframe.core.pipeline import RegressionTestPlugin

from onesided.campaign import further, grid

from .environment import LOWEST_LEVEL

THREADS_LEVEL = "multiple"


class GridPlugin(RegressionTestPlugin):
    """A base class that declares a test's axes. ReFrame's option ``--describe`` shows the axes.

    The kernel gets the cells by its option ``--cells``.
    """

    #: One value for each axis of the kernel, in the kernel's order.
    base_point = builtins.variable(dict)
    #: Crosses for every thread level: no cell needs a second thread that calls MPI.
    crosses_one_thread = builtins.variable(typ.List[dict], value=[])
    #: Crosses for the lowest level only: higher levels would change little and take time.
    crosses_lowest_level = builtins.variable(typ.List[dict], value=[])
    #: Crosses whose cells need MPI_THREAD_MULTIPLE; declared at that level only.
    crosses_threads = builtins.variable(typ.List[dict], value=[])
    #: The crosses of this test, chosen from the three above by the test's thread level.
    crosses = builtins.variable(typ.List[dict], value=[])

    #: The file that says which cells a further round of a campaign has. If empty: all cells.
    further_round = builtins.variable(str, value="")

    thread_level = builtins.parameter([LOWEST_LEVEL, THREADS_LEVEL])

    @builtins.run_after("init")
    def choose_crosses(self):
        """Keep only the cells that belong to this test's thread level."""
        lowest = self.crosses_lowest_level if self.thread_level == LOWEST_LEVEL else []
        threads = self.crosses_threads if self.thread_level == THREADS_LEVEL else []
        self.crosses = [*self.crosses_one_thread, *lowest, *threads]

    @builtins.run_after("init")
    def narrow_crosses(self):
        """In a further round of a campaign, keep only the cells that the round measures again."""
        if self.further_round:
            chosen = further.read(self.further_round)["cells"].get(self.display_name, {})
            self.crosses = grid.narrowed(self.base_point, self.crosses, chosen)

    def declared_points(self):
        """Return the labels (values on axes) of every cell of this test."""
        return grid.points(self.base_point, self.crosses)

    def declared_cells(self):
        """Return a mapping from each cell's identifier to the cell's labels (values on axes)."""
        return grid.cells(self.base_point, self.crosses)

    def cell_options(self):
        """Return the kernel's options that ask for exactly these cells, quoted for the shell."""
        declared = grid.blocks(self.base_point, self.crosses)
        return [f"--cells {shlex.quote(grid.block_option(block))}" for block in declared]
