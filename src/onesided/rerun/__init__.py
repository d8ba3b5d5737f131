"""Cells that are run again outside a campaign: how a cell is named, and its launch."""
