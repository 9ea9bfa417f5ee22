"""Flows of jobs: operational laws, traffic equations, routing probabilities."""
