"""A queueing network with its numbers, what it is, and what is found of it."""
