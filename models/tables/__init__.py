"""Neutral tables, shown as text, HTML or CSV; and the methods that every answer has."""
