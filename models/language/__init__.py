"""The language of models: formulas, units, parameters, names."""
