"""A queueing network as numbers, and the results for it."""
