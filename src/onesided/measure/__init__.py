"""Compute values, intervals and verdicts from the samples of launches."""
