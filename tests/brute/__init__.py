"""Small networks solved state by state, with nothing of the package: what a solution is held to."""
