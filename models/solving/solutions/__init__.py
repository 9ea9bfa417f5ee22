"""Solutions: what a model says at its operating points, and where it saturates."""
