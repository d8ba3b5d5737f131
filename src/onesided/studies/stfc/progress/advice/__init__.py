"""What a site is recommended, and the evidence for it."""
