"""Simulation of models job by job, without any queueing formula."""
