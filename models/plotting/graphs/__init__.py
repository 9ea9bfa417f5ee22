"""A model's graph drawn: its contents, their places, the arrows between them, and the figure."""
