"""Readers of benchmarks of networks and of message passing."""
