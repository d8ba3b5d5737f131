"""From samples to values, intervals and verdicts."""
