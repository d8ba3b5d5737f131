"""Compare launches with what a site has recorded: references with bounds, and known defects."""
