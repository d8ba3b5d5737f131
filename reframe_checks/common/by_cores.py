"""Checks that have fewer cells and other options if ranks share cores."""

import reframe.core.builtins as builtins

from ..plugins.ranks import ranks_of
from .one_setting import OneSetting


class ByCores(OneSetting):
    """A test with one setting and thread level. If ranks share cores, the test has fewer cells.

    If ranks share cores, a rank that waits for another rank also waits for a time slice of the
    operating system. Therefore each cell also has fewer samples.
    """

    ranks = ranks_of(2, 4)
    #: The cells if each rank has a core, and the cells if ranks share cores.
    crosses_full = builtins.variable(list)
    crosses_crowded = builtins.variable(list, value=[])
    #: Further cells, which need at least three ranks.
    crosses_three = builtins.variable(list, value=[])
    cell_s, crowded_cell_s = 0.2, 0.6

    @builtins.run_after("init")
    def choose_crosses(self):
        """If there are fewer cores than ranks, leave out cells that need a core for each rank."""
        chosen = self.crosses_crowded if self.is_crowded else self.crosses_full
        self.crosses = [*chosen, *(self.crosses_three if self.ranks >= 3 else [])]
