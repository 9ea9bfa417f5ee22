"""Sizes: the cheapest configuration that meets targets, among those that can be chosen."""
