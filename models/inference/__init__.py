"""Parameters from measurements: fits, and how sure they are."""
