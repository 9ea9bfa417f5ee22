"""The parts of a graph: components, routes, and the keys of their numbers."""
