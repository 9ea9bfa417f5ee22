"""Sizing: find the cheapest configuration that meets targets."""
