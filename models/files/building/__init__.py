"""How a model is built from the tables of a file."""
