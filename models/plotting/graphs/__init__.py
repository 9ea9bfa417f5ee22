"""A model's graph drawn: what is in it, where it stands, how arrows pass by, and the figure."""
