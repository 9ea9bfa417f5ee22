"""Variability of flows in open networks, by two moments of each flow and service."""
