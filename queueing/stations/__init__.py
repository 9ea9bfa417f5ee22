"""Kinds of station: their laws and abilities."""
