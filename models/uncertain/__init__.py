"""Uncertain parameters: drawn together, carried through a model, and ranked by their effect."""
