"""Caches: the hit ratio by size, policy and popularity of objects."""
