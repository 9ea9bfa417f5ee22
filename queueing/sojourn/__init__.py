"""Sojourn times of jobs in open networks: their laws and percentiles."""
