"""The base of all rooms: paths, documents, errors, programs that are run, one lock at a time."""
