"""Run cells again outside a campaign: how a line names a cell, and how the cell is launched."""
