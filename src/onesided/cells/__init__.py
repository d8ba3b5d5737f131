"""The terms of a campaign: cells, axes, verdicts, figures, and what an experiment is."""
