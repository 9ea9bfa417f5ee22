"""Closed networks of one class: exact, by convolution, and approximate."""
