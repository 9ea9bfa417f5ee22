"""Measurements of the machine: signatures and message sizes, and parameters from them."""
