"""Measured data: files read, columns understood, matched with a model."""
