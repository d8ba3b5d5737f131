"""What every room depends on: paths, documents, errors, programs that are run, one at a time."""
