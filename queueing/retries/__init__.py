"""Clients that give up and ask again: how many attempts come of it, and whether that tips."""
