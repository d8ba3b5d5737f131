"""The ReFrame checks of all experiments. Only what these checks declare can be run."""
