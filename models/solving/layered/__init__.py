"""Layered services: their means, by the method asked for."""
