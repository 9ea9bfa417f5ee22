"""Measurements of the machine: signatures, sizes, and what can be read off them."""
