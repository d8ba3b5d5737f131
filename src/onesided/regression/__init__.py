"""What a site keeps: references with their bounds, and defects that it knows."""
