"""Policy that checks share, one concern a file."""
