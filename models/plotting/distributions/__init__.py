"""Figures of answers that are many numbers: bands, and distributions over sweeps."""
