"""Tables of solved points: where a model is solved, and the error of interpolation between."""
