"""What every check is built on."""
