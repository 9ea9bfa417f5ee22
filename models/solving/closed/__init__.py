"""Closed networks: circulating jobs, and the consistent throughput."""
