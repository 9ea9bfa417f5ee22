"""A model made of a file: what is made of each of its tables."""
