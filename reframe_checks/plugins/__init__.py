"""Policy that checks share. Each file has one concern."""
