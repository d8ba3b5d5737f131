"""The ReFrame checks of all experiments; a campaign runs only cells that the checks declare."""
