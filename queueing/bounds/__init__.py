"""Bounds on what networks do, without solving them: closed, open, of several classes."""
