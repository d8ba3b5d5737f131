"""A site's own data: references with their bounds, and known defects."""
