"""Readers of benchmarks of databases and caches."""
