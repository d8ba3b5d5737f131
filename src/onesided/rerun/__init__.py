"""Run a cell of a campaign again, outside the campaign: find the cell, and launch it."""
