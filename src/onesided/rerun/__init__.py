"""Cells that are run again outside a campaign: how to name a cell, and how it is launched."""
