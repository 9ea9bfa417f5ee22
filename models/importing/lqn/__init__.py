"""Layered queueing networks in files of LQNS, read and written."""
