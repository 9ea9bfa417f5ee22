"""What answers look like as text, rows and JSON."""
