"""The command line, one file per command; only this package prints or exits."""
