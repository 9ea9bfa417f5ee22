"""Reductions: summaries that a sweep keeps, of small size for any number of points."""
