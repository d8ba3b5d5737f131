"""The base of all other packages: paths, documents, errors, running of programs, locks."""
