"""Reductions: what a sweep keeps of its points, small however many they are."""
