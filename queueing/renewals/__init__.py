"""Queues with renewal arrivals and exponential service."""
