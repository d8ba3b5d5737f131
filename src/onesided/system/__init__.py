"""What all other packages use: paths, documents, errors, running programs, locks."""
