"""Distributions of times: as transforms, and inverted to probabilities."""
