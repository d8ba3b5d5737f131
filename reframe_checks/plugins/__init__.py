"""Rules that all checks share. Each file is about one subject."""
