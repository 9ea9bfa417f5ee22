"""What a graph is made of: components, routes, and the keys of their numbers."""
