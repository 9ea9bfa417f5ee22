"""Published tables, recomputed."""
