"""Sweeps: spaces of operating points, solved in blocks and reduced where they are solved."""
