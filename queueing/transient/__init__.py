"""Queues whose load changes with time: the number of jobs at each time, and waits of arrivals."""
