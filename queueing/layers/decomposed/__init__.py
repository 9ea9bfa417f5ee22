"""Layers by decomposition: each server in turn, as a station with the jobs that can come to it."""
