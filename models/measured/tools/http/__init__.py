"""Readers of HTTP load generators."""
