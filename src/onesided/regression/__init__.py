"""Compare launches with what a site keeps: references with bounds, and known defects."""
