"""Two results beside each other, cell by cell and as a whole: what changed, and what stayed."""
