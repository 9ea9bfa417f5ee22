"""The structure of a model: stations, routes and formulas together, with or without numbers."""
