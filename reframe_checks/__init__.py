"""The experiments as ReFrame checks: the single description of what can be run."""
