"""Stations whose speed depends on the number of jobs present, or on the servers taken."""
