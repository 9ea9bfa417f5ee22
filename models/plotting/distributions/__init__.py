"""Figures of answers that consist of many numbers: bands, and distributions over sweeps."""
