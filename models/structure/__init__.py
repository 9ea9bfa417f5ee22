"""What a model is: stations, routes and formulas joined, with numbers or without."""
