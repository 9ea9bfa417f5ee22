"""Layered systems solved: which method answers, and what it says."""
