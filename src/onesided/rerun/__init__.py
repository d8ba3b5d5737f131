"""Cells that are run again outside a campaign: what names one, and launching it."""
