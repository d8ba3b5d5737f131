"""One file a site: ReFrame configurations to be given with ``-C``."""
