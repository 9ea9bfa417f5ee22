"""Clients that time out and retry: the rate of attempts, and whether the queue tips over."""
