"""In what order a graph's numbers are calculated."""
