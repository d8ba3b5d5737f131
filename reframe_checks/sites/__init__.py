"""ReFrame configurations for ``-C``, one file for each site."""
