"""One module a subcommand of `onesided`: its options, and the call of the stage that does the work."""
