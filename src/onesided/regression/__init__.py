"""Compare launches with data that a site keeps: references with bounds, and known defects."""
