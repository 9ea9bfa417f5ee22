"""Models: the graph that joins queueing and LogGP, its parameters, answers and data."""
