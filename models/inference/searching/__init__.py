"""The search for the least cost: problem, derivatives, descent."""
