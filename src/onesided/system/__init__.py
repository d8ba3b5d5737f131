"""What every room stands on: paths, documents, errors, programs that are run, one at a time."""
