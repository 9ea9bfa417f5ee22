"""Answers with 95% bands as tables, rows, JSON and CSV."""
