"""The ReFrame checks of all experiments; a campaign can run only cells that these declare."""
