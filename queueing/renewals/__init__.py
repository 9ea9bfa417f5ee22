"""Queues to which jobs come as a renewal flow, with exponential service."""
