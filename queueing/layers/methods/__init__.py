"""Solve layered systems: choose the method, and label its answer."""
