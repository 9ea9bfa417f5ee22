"""The time a job takes through a closed network, given how it finds the other jobs."""
