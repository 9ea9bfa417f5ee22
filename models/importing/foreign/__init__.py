"""The contents of another tool's file, and readers of its parts: names, numbers, times."""
