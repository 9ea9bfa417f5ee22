"""Stations whose speed depends on how many are there, or who: rates by number present."""
