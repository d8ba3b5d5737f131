"""The page of `conformance`: counts, failures, and defects that upstream knows."""
