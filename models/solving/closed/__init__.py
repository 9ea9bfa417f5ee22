"""Closed networks: jobs that circulate, and the throughput that agrees with itself."""
