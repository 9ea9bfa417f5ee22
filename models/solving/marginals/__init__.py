"""Distributions of the number of jobs at each station of a solved network, and of waiting times."""
