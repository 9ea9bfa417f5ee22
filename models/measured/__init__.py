"""Measured data: reading files, understanding columns, matching them with a model."""
