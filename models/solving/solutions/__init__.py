"""Solutions: the results of a model at its operating points, and its saturation."""
