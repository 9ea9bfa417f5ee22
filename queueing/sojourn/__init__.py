"""How long jobs take through open networks: laws of sojourn times, and their percentiles."""
