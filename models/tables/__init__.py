"""Neutral tables, shown as text, HTML or CSV; and the methods of every answer."""
