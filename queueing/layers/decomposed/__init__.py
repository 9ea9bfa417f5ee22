"""Layers by decomposition: every server with those who can come to it, in turn."""
