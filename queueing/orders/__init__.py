"""Disciplines without a product form: priorities, and whose turn it is where times differ."""
