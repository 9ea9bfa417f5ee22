"""Caches: the share of requests that they answer, by size, policy and popularity of objects."""
