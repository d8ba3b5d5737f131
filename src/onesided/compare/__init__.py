"""Comparison of two results, cell by cell and as a whole: what changed, and what did not."""
