"""Numerical methods behind the layers: fixed points, minimum cuts, and single stations."""
