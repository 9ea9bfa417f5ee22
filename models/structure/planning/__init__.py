"""The order in which a graph's numbers are calculated."""
