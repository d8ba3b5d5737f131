"""Checks that have other cells and options if there are more ranks than cores."""

import reframe.core.builtins as builtins

from .one_setting import OneSetting

#: With more ranks than cores every hand-over waits for a time slice.
FEW_RANKS, CROWD = 2, 4


class FewAndCrowd(OneSetting):
    """One setting and thread level. Two ranks have all cells, and four ranks have some cells."""

    ranks = builtins.parameter([FEW_RANKS, CROWD])
    #: Options of the kernel with a core for each rank, and without.
    options = builtins.variable(dict)
    crowded_options = builtins.variable(dict, value={})
    crosses_few = builtins.variable(list)
    crosses_crowd = builtins.variable(list, value=[])
    #: Time of a cell, by the number of ranks; seconds.
    cell_s = builtins.variable(dict, value={FEW_RANKS: 0.2, CROWD: 0.6})

    @builtins.run_after("init")
    def choose_crosses(self):
        """Without a core for each rank, leave out cells that need it, and take few samples."""
        is_crowded = self.ranks > FEW_RANKS
        self.crosses = self.crosses_crowd if is_crowded else self.crosses_few
        self.kernel_options = self.crowded_options if is_crowded else self.options

    def seconds_of_cell(self, labels):
        """Return the time that a cell took on two cores."""
        return self.cell_s[self.ranks]
