"""Published tables recomputed, cell by cell."""
