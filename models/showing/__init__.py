"""How answers are shown: as text, rows and JSON."""
