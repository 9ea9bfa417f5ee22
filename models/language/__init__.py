"""What models are written in: formulas, units, parameters, names."""
