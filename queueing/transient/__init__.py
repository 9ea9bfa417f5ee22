"""Queues whose load changes: how many jobs are there at each time, and what arrivals wait."""
