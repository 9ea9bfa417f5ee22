"""Exact closed networks of many classes, without the lattice of their populations."""
