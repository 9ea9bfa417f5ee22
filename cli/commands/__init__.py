"""One file a command; the table of them is in `headway.cli.main`."""
