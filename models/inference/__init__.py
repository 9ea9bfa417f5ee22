"""Parameters from measurements: fits, and how certain they are."""
