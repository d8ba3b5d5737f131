"""The terms that all packages share: experiments, metrics, verdicts, and statuses of cells."""
