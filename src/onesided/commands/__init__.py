"""One module a subcommand of `onesided`: its options, and the call of the stage's module."""
