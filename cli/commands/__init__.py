"""One file per command; `headway.cli.main` has the table of commands."""
