"""The least cost: problem, derivatives, descent."""
